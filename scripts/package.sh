#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a clean clone to a package: sets the machine up, builds the programs in build/package, and packs them. The same
# commit gives the same bytes, wherever the clone is.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage="Usage: scripts/package.sh wheel|deb [FOLDER]

Packs ESC in FOLDER (default: dist), on Debian 12 or later. Needs no GPU. Where there is a CUDA toolkit, esctune-worker
is packed, too, which measures on a GPU.
  wheel   for any x86-64 Linux with glibc 2.28 or newer
  deb     for this version of Debian
Exit status: 0 done; 2 bad usage; 3 something is missing on this machine."

case ${1:-} in
  wheel | deb) ;;
  -h | --help)
    echo "$usage"
    exit
    ;;
  *) fail 2 "name what to make, wheel or deb; see scripts/package.sh --help" ;;
esac
(($# <= 2)) || fail 2 "one folder at most; see scripts/package.sh --help"
folder=${2:-dist}

scripts/setup.sh
say "Configuring build/package"
cmake --preset release -B build/package -D ESC_BUILD_TESTS=OFF -D CMAKE_INSTALL_LIBDIR=lib \
  -D CMAKE_CXX_COMPILER=clang++-22 -D CMAKE_CXX_FLAGS="-ffile-prefix-map=$PWD=."
say "Building the programs (some minutes)"
cmake --build build/package
say "Packing"
if [[ $1 == wheel ]]; then
  packaging/make_wheel.py build/package -o "$folder"
else
  (cd build/package && cpack)
  mkdir -p "$folder"
  cp build/package/*.deb "$folder"
fi
