#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what the build, the tests and the main job need from Debian's or Ubuntu's packages.
# Does nothing where everything is there already. As root, or through sudo.
set -eu

packages="g++ cmake ninja-build git python3 catch2 libbenchmark-dev libopenblas-dev"
missing=""
for package in $packages; do
  dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
  root=""
elif command -v sudo >/dev/null 2>&1; then
  root="sudo"
else
  echo "these packages are missing and neither root nor sudo is at hand:$missing" >&2
  exit 1
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
$root apt-get update -qq
# shellcheck disable=SC2086 # a list of words
$root apt-get install -y -qq --no-install-recommends $missing
