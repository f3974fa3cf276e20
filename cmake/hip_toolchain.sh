#!/bin/sh
# Sets up what compiling and linking HIP code for AMD GPUs takes, on a machine without ROCm.
#
#   cmake/hip_toolchain.sh PREFIX
#
# - The compiler comes from the distribution (clang 22 and its tools); it is installed if missing, as
#   root or through sudo.
# - The HIP headers, AMD's device libraries and the HIP runtime to link against come from Debian
#   experimental. They are unpacked below PREFIX and never installed: nothing of the system is upgraded.
#
# Then, with P=PREFIX:
#   clang++-22 -x hip --offload-arch=gfx942 --offload-arch=gfx950 --rocm-path=P/usr \
#     --rocm-device-lib-path=P/usr/lib/llvm-22/lib/clang/22/amdgcn/bitcode -std=c++20 -O3 -c x.hip
#   clang++-22 x.o -o x P/usr/lib/x86_64-linux-gnu/libamdhip64.so -Wl,--allow-shlib-undefined
#
# Running it again is quick: what is there stays. Progress goes to standard error; standard output is
# one line, the absolute path of PREFIX, and only on success.
#
# The Debian mirror is the one that the machine's own apt uses. DEBIAN_MIRROR=URI names another one.
set -eu

llvm=22
system_packages="clang-$llvm lld-$llvm clang-tools-$llvm llvm-$llvm libstdc++-12-dev binutils"
prefix_packages="libamdhip64-dev libamdhip64-7 rocm-device-libs-$llvm"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

say() { printf 'hip_toolchain: %s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

{ [ $# -eq 1 ] && [ -n "$1" ]; } || die "usage: hip_toolchain.sh PREFIX"
{ command -v apt-get && command -v dpkg; } >/dev/null || die "needs a Debian system (no apt-get, dpkg)"
[ "$(dpkg --print-architecture)" = amd64 ] || die "needs an amd64 machine"
mkdir -p -- "$1"
prefix=$(cd -- "$1" && pwd -P)
case $prefix in
  / | /usr | /usr/local) die "PREFIX must be a folder of its own, not $prefix" ;;
esac
stamp=$prefix/.hip_toolchain  # written last: names the packages and versions unpacked here

# --- Helpers ---

# Runs a command as root.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "must run as root (or have sudo) for: $*"
  fi
}

# Refreshes the system's package lists, once. Another apt may hold their lock, so tries again.
updated=no
update_system() {
  [ "$updated" = no ] || return 0
  updated=yes
  say "refreshing the package lists"
  for pause in 10 20 40 0; do
    as_root apt-get -q update >&2 && return 0
    sleep "$pause"
  done
  say "warning: apt-get update failed; going on with the lists there are"
}

# Prints the packages of "$@" that are not installed.
missing() {
  for package in "$@"; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || status=
    [ "$status" = installed ] || printf '%s\n' "$package"
  done
}

# Installs those of "$@" that are missing, in the versions of the system's own release.
install_missing() {
  # shellcheck disable=SC2046  # one word a package
  set -- $(missing "$@")
  [ $# -gt 0 ] || return 0
  update_system
  for package in "$@"; do
    apt-cache policy "$package" 2>/dev/null | grep -q '^  Candidate: [^(]' ||
      die "this system's package sources ($system) have no '$package'; those of Debian 12 do (with security updates)"
  done
  say "installing $*"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600 \
    install --no-install-recommends --no-upgrade "$@" >&2
}

# Prints the address of the Debian mirror in apt's configuration, if its lists are there.
configured_mirror() {
  # shellcheck disable=SC2016  # the format is apt's to expand
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' 2>/dev/null | head -n 1
}

# True when PREFIX holds all packages.
prefix_complete() {
  [ -f "$stamp" ] || return 1
  for package in $prefix_packages; do
    grep -q "^${package}_" "$stamp" || return 1
  done
  [ -f "$prefix/usr/include/hip/hip_runtime.h" ] &&
    [ -f "$prefix/usr/lib/llvm-$llvm/lib/clang/$llvm/amdgcn/bitcode/ockl.bc" ] &&
    [ -f "$prefix/usr/lib/x86_64-linux-gnu/libamdhip64.so" ]  # a link to the runtime: both are there
}

# Downloads the packages of Debian experimental and unpacks them below PREFIX.
fill_prefix() {
  [ -f "$keyring" ] || install_missing debian-archive-keyring
  mirror=${DEBIAN_MIRROR:-$(configured_mirror)}
  if [ -z "$mirror" ]; then
    update_system
    mirror=$(configured_mirror)
  fi
  [ -n "$mirror" ] || die "no Debian mirror in apt's configuration ($system): name one, DEBIAN_MIRROR=URI"

  # An apt of its own, on top of the machine's configuration (proxies, credentials): private lists and
  # cache, an empty package database, experimental as the only source.
  work=$(mktemp -d)
  trap 'rm -rf -- "$work"' EXIT
  trap 'exit 1' HUP INT TERM
  mkdir -p "$work/state" "$work/lists/partial" "$work/cache/archives/partial" "$work/none" "$work/debs"
  : >"$work/status"
  echo "deb [arch=amd64 signed-by=$keyring] $mirror experimental main" >"$work/sources.list"
  cat >"$work/apt.conf" <<CONF
Dir::State "$work/state";
Dir::State::lists "$work/lists";
Dir::State::status "$work/status";
Dir::Cache "$work/cache";
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "$work/none";
Dir::Etc::preferences "$work/none/preferences";
Dir::Etc::preferencesparts "$work/none";
Acquire::Check-Valid-Until "false";
Acquire::Languages "none";
Acquire::Retries "3";
APT::Sandbox::User "root";
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
CONF
  say "downloading from Debian experimental: $prefix_packages"
  APT_CONFIG=$work/apt.conf apt-get -q update >&2 || die "Debian experimental cannot be read from $mirror"
  # shellcheck disable=SC2086  # one word a package
  (cd "$work/debs" && APT_CONFIG=$work/apt.conf apt-get -q download $prefix_packages >&2) ||
    die "Debian experimental did not give all of: $prefix_packages"

  rm -f -- "$stamp"
  for deb in "$work"/debs/*.deb; do
    say "unpacking $(basename "$deb")"
    dpkg -x "$deb" "$prefix"
  done
  (cd "$work/debs" && printf '%s\n' *.deb) >"$stamp"
  prefix_complete || { rm -f -- "$stamp"; die "the packages lack files that HIP code needs; see $prefix"; }
}

# --- Main ---

# shellcheck disable=SC1091
system=$(. /etc/os-release 2>/dev/null && printf '%s' "${PRETTY_NAME:-}") || system=
system=${system:-unknown system}
# shellcheck disable=SC2086  # one word a package
install_missing $system_packages
if prefix_complete; then
  say "complete: $prefix"
else
  fill_prefix
  say "filled $prefix ($(du -sh -- "$prefix" | cut -f 1))"
fi
printf '%s\n' "$prefix"
