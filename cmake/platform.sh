#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the best platform of this machine: cuda or hip where a device and its compiler are present,
# else host, with the reason on standard error.
set -eu

PATH="$PATH:/usr/local/cuda/bin:/opt/rocm/bin"
if command -v nvidia-smi >/dev/null 2>&1 && nvidia-smi -L 2>/dev/null | grep -q GPU; then
  if command -v nvcc >/dev/null 2>&1; then
    echo "an NVIDIA GPU and nvcc are present" >&2
    echo cuda
    exit 0
  fi
  echo "an NVIDIA GPU is present but no nvcc: running on the CPU" >&2
elif [ -e /dev/kfd ]; then
  if command -v hipcc >/dev/null 2>&1; then
    echo "an AMD GPU and hipcc are present" >&2
    echo hip
    exit 0
  fi
  echo "an AMD GPU is present but no hipcc: running on the CPU" >&2
else
  echo "no GPU is present: running on the CPU" >&2
fi
echo host
