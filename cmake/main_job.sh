#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The main job in one command: installs what is missing, builds, and runs raggedgemm_bench on the
# best device present, the CPU when there is none. Arguments go to raggedgemm_bench.
set -eu

cd "$(dirname "$0")/.."
cmake/install_dependencies.sh
platform=$(cmake/platform.sh)
PATH="$PATH:/usr/local/cuda/bin:/opt/rocm/bin"
export PATH
set_compiler=""
[ "$platform" != hip ] || set_compiler="-DCMAKE_CXX_COMPILER=hipcc"
# shellcheck disable=SC2086 # empty or one word
cmake --preset "$platform" $set_compiler -DRAGGEDGEMM_BUILD_TESTS=OFF -DRAGGEDGEMM_BUILD_EXAMPLES=OFF
cmake --build --preset "$platform" --target raggedgemm_bench
exec "build/$platform/bench/raggedgemm_bench" "$@"
