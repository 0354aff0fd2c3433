#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that the build needs and that are not there yet.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage="Usage: scripts/setup.sh [--tests]

Installs what building ESC needs, from the machine's own package sources (Debian 12 with security updates, or later).
  --tests   also what building and running the tests needs
A CUDA toolkit is not installed: generating and verifying kernels needs none. Tests that compile the generated CUDA code
use nvcc from PATH or /usr/local/cuda/bin and are skipped without it.
Exit status: 0 everything is there; 2 bad usage; 3 something could not be installed."

build_packages=(
  g++ cmake ninja-build
  libclang-22-dev llvm-22-dev # LibTooling reads the loop nests, ORC runs emitted code on the host
  clang-22                    # brings Clang's CMake package and its shared library
  lld                         # links in a tenth of the time
  libseccomp-dev              # takes the rights from the processes that run texts of bundles
  libcli11-dev nlohmann-json3-dev libfmt-dev libtbb-dev libssl-dev zlib1g-dev libboost-context-dev libdtl-dev libffi-dev
  dpkg-dev file # cpack asks them what a Debian package needs
)
test_packages=(
  libclang-rt-22-dev # sanitizers and libFuzzer, for the programs of tests/fuzz; counters of the lines that run
  clang-format-22    # scripts/format.sh
  llvm-22            # llvm-profdata and llvm-cov read those
  libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev
  python3 python3-numpy python3-scipy diffutils # independent readers and products to compare with
  slurm-wlm munge                               # a cluster of one node for the tuner's array jobs
)

is_installed() {
  [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) == installed* ]]
}

is_offered() {
  local policy
  policy=$(LC_ALL=C apt-cache policy "$1")
  [[ $policy == *"Candidate: "[!\(]* ]]
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  else
    sudo "$@"
  fi
}

wanted=("${build_packages[@]}")
for argument in "$@"; do
  case $argument in
    --tests) wanted+=("${test_packages[@]}") ;;
    -h | --help)
      echo "$usage"
      exit
      ;;
    *) fail 2 "unknown argument '$argument'; see scripts/setup.sh --help" ;;
  esac
done

command -v apt-get >/dev/null ||
  fail 3 "no apt-get here: on a system other than Debian, install the counterparts of: ${wanted[*]}"

missing=()
for package in "${wanted[@]}"; do
  is_installed "$package" || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  say "All ${#wanted[@]} packages are installed"
  exit
fi

((EUID == 0)) || command -v sudo >/dev/null ||
  fail 3 "installing needs root and there is no sudo here; as root, run: apt-get install ${missing[*]}"

say "Updating the package index"
as_root apt-get update -qq || say "The index could not be updated in full; going on with what is there"

unknown=()
for package in "${missing[@]}"; do
  is_offered "$package" || unknown+=("$package")
done
if ((${#unknown[@]} > 0)); then
  fail 3 "the package sources of this machine do not offer: ${unknown[*]}
Debian 12 (bookworm) does with its updates: check that /etc/apt/sources.list or /etc/apt/sources.list.d has the suites
bookworm and bookworm-security (which brings LLVM 22) and that 'apt-get update' reaches them."
fi

say "Installing ${missing[*]}"
as_root env DEBIAN_FRONTEND=noninteractive \
  apt-get install -qq --yes --no-install-recommends "${missing[@]}" >/dev/null ||
  fail 3 "apt-get could not install the packages; its reason is above"
say "Installed ${#missing[@]} packages and what they depend on"
