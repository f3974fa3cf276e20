#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Times raggedgemm beside its peers on this machine's Hopper GPU and prints the tables. Arguments go
# to run.py (--help lists them). PREBUILT=FOLDER takes libours.so and libcublas_peers.so from there
# instead of building them. JAX_SECONDS=N adds JAX's ragged_dot (jax_peers.py). Fails when a result
# is wrong or time ran out.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$root/build/peers
libs=${PREBUILT:-$build}
csv=$build/peers.csv
previous=
for argument in "$@"; do
  if [ "$previous" = --csv ]; then csv=$argument; fi
  case $argument in
    -h | --help) exec python3 "$here/run.py" --help ;;
    --csv=*) csv=${argument#--csv=} ;;
  esac
  previous=$argument
done

mkdir -p "$build"
for name in ours cublas_peers; do
  if [ -n "${PREBUILT:-}" ] && [ -e "$libs/lib$name.so" ]; then continue; fi
  echo "building lib$name.so"
  mkdir -p "$libs"
  nvcc -std=c++20 -O3 -gencode=arch=compute_90a,code=sm_90a -shared -Xcompiler -fPIC \
    -I"$root/include" -o "$libs/lib$name.so" "$here/$name.cu" -lcublas
done

rm -f "$csv"
status=0
python3 "$here/run.py" --libs "$(cd "$libs" && pwd)" --csv "$csv" "$@" || status=$?
[ -e "$csv" ] || exit "$status"
if [ -n "${JAX_SECONDS:-}" ]; then
  python3 "$here/jax_peers.py" --csv "$csv" --seconds "$JAX_SECONDS" || [ $? -eq 3 ] || status=$?
fi
python3 "$here/summarize.py" "$csv" || status=$?
exit "$status"
