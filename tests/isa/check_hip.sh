#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Checks the HIP kernels of a build of raggedgemm::compiled: takes the code objects of every target
# out of the object files and hands them to check_hip_isa.py, then to bench/isa_report.py, which asks
# a share of the matrix peak of the large tiles' main loops.
#   check_hip.sh BUILD_FOLDER [TARGET …]      targets: gfx942 gfx950
set -euo pipefail
build=$1
shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(gfx942 gfx950)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The newest LLVM here: older ones do not know the targets.
tool() {
  local version
  for version in 30 29 28 27 26 25 24 23 22; do
    command -v "$1-$version" && return
  done
  command -v "/opt/rocm/llvm/bin/$1" || command -v "$1"
}
objcopy=$(tool llvm-objcopy)
bundler=$(tool clang-offload-bundler)

count=0
files=()
while IFS= read -r object; do
  count=$((count + 1))
  "$objcopy" --dump-section ".hip_fatbin=$work/$count.fat" "$object"
  for target in "${targets[@]}"; do
    file="$work/$(basename "$object" .hip.cpp.o).$target.co"
    "$bundler" --unbundle --type=o --targets="hipv4-amdgcn-amd-amdhsa--$target" \
      --input="$work/$count.fat" --output="$file"
    files+=("$file")
  done
done < <(find "$build" -path '*raggedgemm_compiled_device*' -name '*.hip.cpp.o' | sort)
[ "$count" -gt 0 ] || { echo "no HIP objects below $build"; exit 1; }
status=0
python3 "$here/check_hip_isa.py" "${files[@]}" || status=$?
python3 "$here/../../bench/isa_report.py" --bar 0.9 "${files[@]}" || status=$?
exit $status
