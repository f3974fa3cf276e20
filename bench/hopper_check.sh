#!/bin/bash
# Checks and times the Hopper rows on this machine's GPU: every check, a small set under
# compute-sanitizer where there is one, then the timings. Each program has a time limit, because a
# lost barrier hangs. Usage: bench/hopper_check.sh [PROGRAM]; builds PROGRAM when none is given.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
program=${1:-}
if [ -z "$program" ]; then
  program=$root/build/hopper/hopper_check
  mkdir -p "$(dirname "$program")"
  nvcc -std=c++20 -O3 -gencode=arch=compute_90a,code=sm_90a --split-compile=0 -I"$root/include" \
    -o "$program" "$root/bench/hopper_check.cu" -lcublas || exit 1
fi
timeout 60 "$program" check || { echo "hopper_check: check failed ($?)"; exit 1; }
if command -v compute-sanitizer >/dev/null; then
  timeout 60 compute-sanitizer --tool memcheck --error-exitcode 1 "$program" tiny ||
    { echo "hopper_check: memcheck failed ($?)"; exit 1; }
fi
timeout 120 "$program" time || { echo "hopper_check: time failed ($?)"; exit 1; }
