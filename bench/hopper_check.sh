#!/bin/bash
# Checks and times the Hopper rows on this machine's GPU: every check, 1,000 bitwise equal repeats
# (again with random delays in every role), a small set under compute-sanitizer where there is one,
# then the timings. Each program has a time limit, because a lost barrier hangs.
# Usage: bench/hopper_check.sh [PROGRAM [PROGRAM_WITH_DELAYS]]; builds both when none is given.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
program=${1:-}
delayed=${2:-}
build() {
  mkdir -p "$(dirname "$1")"
  nvcc -std=c++20 -O3 -gencode=arch=compute_90a,code=sm_90a --split-compile=0 -I"$root/include" \
    -o "$1" "$root/bench/hopper_check.cu" -lcublas "${@:2}" || exit 1
}
# step SECONDS COMMAND…
step() {
  timeout "$@" || { echo "hopper_check: ${*:2} failed ($?)"; exit 1; }
}
if [ -z "$program" ]; then
  program=$root/build/hopper/hopper_check
  delayed=$root/build/hopper/hopper_check_delayed
  build "$program" &
  build "$delayed" -DRAGGEDGEMM_PLANT_DELAYS
  wait $! || exit 1
fi
step 60 "$program" check
step 120 "$program" repeat 1000
if [ -n "$delayed" ]; then step 120 "$delayed" repeat 1000; fi
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck synccheck; do
    step 60 compute-sanitizer --tool $tool --error-exitcode 1 "$program" tiny
  done
fi
step 180 "$program" time
