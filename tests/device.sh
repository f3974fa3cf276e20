#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The GPU's part of the tests in one command, on a machine with the device: builds for the platform,
# runs `ctest -L device`, then memcheck on a reduced set. CI has no GPU; run this by hand.
#   tests/device.sh [cuda|hip] [--no-memcheck] [-- extra CMake options]
# Logs: build/PLATFORM/device-*.log
set -uo pipefail
cd "$(dirname "$0")/.."
platform=cuda
memcheck=1
while [ $# -gt 0 ]; do
  case $1 in
    cuda | hip) platform=$1 ;;
    --no-memcheck) memcheck=0 ;;
    --) shift && break ;;
    *) echo "usage: tests/device.sh [cuda|hip] [--no-memcheck] [-- CMake options]" && exit 2 ;;
  esac
  shift
done
build=build/$platform
cmake --preset "$platform" -DRAGGEDGEMM_BUILD_TESTS=ON "$@" >/dev/null || exit 1
start=$SECONDS
cmake --build --preset "$platform" --target device_tests -- -k 0 >"$build/device-build.log" 2>&1
built=$?
echo "build: $((SECONDS - start)) s, exit $built"
[ $built -eq 0 ] || grep -E "FAILED|error" "$build/device-build.log" | head -20

start=$SECONDS
ctest --preset "$platform" -L device --output-on-failure --timeout 240 >"$build/device-tests.log" 2>&1
tested=$?
echo "tests: $((SECONDS - start)) s, exit $tested"
tail -n 40 "$build/device-tests.log"

if [ $memcheck -eq 1 ] && [ "$platform" = cuda ] && command -v compute-sanitizer >/dev/null; then
  start=$SECONDS
  timeout 200 compute-sanitizer --tool memcheck --error-exitcode 9 "$build/tests/raggedgemm_golden_test" \
    >"$build/device-memcheck.log" 2>&1
  checked=$?
  echo "memcheck of the golden cases, every kernel: $((SECONDS - start)) s, exit $checked"
  grep -E "ERROR SUMMARY|golden:|Error|Invalid" "$build/device-memcheck.log" | tail -n 5
else
  checked=0
fi
[ $built -eq 0 ] && [ $tested -eq 0 ] && [ $checked -eq 0 ]
