#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tests in one command: installs what is missing, builds, and runs them all on the CPU, and on
# the GPU where there is one.
set -eu

cd "$(dirname "$0")/.."
cmake/install_dependencies.sh
cmake --preset host -DRAGGEDGEMM_WARNINGS_AS_ERRORS=ON -DRAGGEDGEMM_BUILD_TESTS=ON -DRAGGEDGEMM_BUILD_EXAMPLES=ON
cmake --build --preset host
ctest --preset host

platform=$(cmake/platform.sh)
[ "$platform" != host ] || exit 0
PATH="$PATH:/usr/local/cuda/bin:/opt/rocm/bin"
export PATH
set_compiler=""
[ "$platform" != hip ] || set_compiler="-DCMAKE_CXX_COMPILER=hipcc"
# shellcheck disable=SC2086 # empty or one word
cmake --preset "$platform" $set_compiler -DRAGGEDGEMM_BUILD_TESTS=ON -DRAGGEDGEMM_BUILD_EXAMPLES=ON
cmake --build --preset "$platform"
ctest --preset "$platform" -L device
