#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The device tests of the HIP build on an emulator of the GPU, in one command: builds them, runs each
# through ctest with the launcher in front, and prints a line a program.
#
#   tests/emulator/run_tests.sh LAUNCHER [gfx942|gfx950 …] [-- extra CMake options]
#
# LAUNCHER is one argument, the command that runs a program on the emulated chip; "{chip}" in it
# stands for the chip. It brings the emulator's own environment and passes on the exit code.
#
#   BUILD=folder   build folder (build/hip)         TESTS=regex   only tests whose names match
#   LIMIT=seconds  of one program (3600)            JOBS=number   of the build
#
# Logs: BUILD/emulator-CHIP/NAME.log. Exit code 0 when all passed, with skipped ones.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2
usage='usage: tests/emulator/run_tests.sh LAUNCHER [gfx942|gfx950 …] [-- CMake options]'
[ -n "${1:-}" ] || { echo "$usage" >&2; exit 2; }
launcher=$1
shift
chips=()
while [ $# -gt 0 ]; do
  case $1 in
    gfx942 | gfx950) chips+=("$1") ;;
    --) shift && break ;;
    *) echo "$usage" >&2; exit 2 ;;
  esac
  shift
done
[ ${#chips[@]} -gt 0 ] || chips=(gfx942 gfx950)
build=${BUILD:-build/hip}
export RAGGEDGEMM_TEST_SCALE=emulator

failed=0
for chip in "${chips[@]}"; do
  # CMake's list of the launcher's words.
  read -r -a words <<<"${launcher//'{chip}'/$chip}"
  command=$(IFS=';' && echo "${words[*]}")
  logs=$build/emulator-$chip
  mkdir -p "$logs"
  cmake --preset hip -B "$build" -DRAGGEDGEMM_BUILD_TESTS=ON "-DRAGGEDGEMM_TEST_LAUNCHER=$command" \
    "-DRAGGEDGEMM_TEST_TIMEOUT=${LIMIT:-3600}" "$@" >"$logs/configure.log" 2>&1 ||
    { tail "$logs/configure.log"; exit 1; }
  mapfile -t names < <(ctest --test-dir "$build" -N -L '^device$' -R "${TESTS:-.}" 2>/dev/null |
    sed -n 's/^ *Test *#[0-9]*: //p')
  [ ${#names[@]} -gt 0 ] || { echo "no device test of this name" >&2; exit 2; }
  start=$SECONDS
  # A test is named like its target.
  if ! cmake --build "$build" ${JOBS:+-j "$JOBS"} --target "${names[@]}" -- -k 0 >"$logs/build.log" 2>&1; then
    grep -E "FAILED|error" "$logs/build.log" | head -20
    failed=1
  fi
  echo "$chip: build $((SECONDS - start)) s"

  printf '%-32s %8s %11s %8s  %s\n' program cases assertions seconds result
  total=$SECONDS
  for name in "${names[@]}"; do
    start=$SECONDS
    log=$logs/$name.log
    ctest --test-dir "$build" -R "^$name\$" -V >"$log" 2>&1
    status=$?
    # Catch2's last line, or "N cases, M failed" of a program without Catch2.
    summary=$(grep -oE "assertions? in [0-9]+|test cases: +[0-9]+|[0-9]+ cases, [0-9]+ failed" "$log" | tail -n 1)
    cases=$(grep -oE "[0-9]+" <<<"$summary" | head -n 1)
    assertions=$(grep -oE "[0-9]+ assertions? in|assertions: +[0-9]+" "$log" | grep -oE "[0-9]+" | tail -n 1)
    if grep -q "(Skipped)$\|\*\*\*Skipped" "$log"; then
      result=skipped
    elif [ $status -eq 0 ]; then
      result=passed
    else
      failed=1
      result=FAILED
      if grep -q "\*\*\*Timeout" "$log"; then result="TIMED OUT"; fi
    fi
    printf '%-32s %8s %11s %8s  %s\n' "$name" "${cases:--}" "${assertions:--}" $((SECONDS - start)) "$result"
  done
  echo "$chip: $((SECONDS - total)) s"
done
exit $failed
