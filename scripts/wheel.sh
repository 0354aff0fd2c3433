#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a clean clone to a wheel for any Linux with glibc 2.28 or newer: sets the machine up, builds the programs in
# build/wheel, and packs them. The same commit gives the same bytes, wherever the clone is.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage="Usage: scripts/wheel.sh [FOLDER]

Makes a wheel of ESC in FOLDER (default: dist), on Debian 12 or later, x86-64. Needs no GPU. Where there is a CUDA
toolkit, the wheel has esctune-worker, too, which measures on a GPU.
Exit status: 0 done; 2 bad usage; 3 something is missing on this machine."

case ${1:-} in
  -h | --help)
    echo "$usage"
    exit
    ;;
  -*) fail 2 "unknown argument '$1'; see scripts/wheel.sh --help" ;;
esac
(($# <= 1)) || fail 2 "one folder at most; see scripts/wheel.sh --help"

scripts/setup.sh
say "Configuring build/wheel"
cmake --preset release -B build/wheel -D ESC_BUILD_TESTS=OFF -D CMAKE_INSTALL_LIBDIR=lib -D CMAKE_CXX_COMPILER=clang++-22 \
  -D CMAKE_CXX_FLAGS="-ffile-prefix-map=$PWD=."
say "Building the programs (some minutes)"
cmake --build build/wheel
say "Linking for glibc 2.28, and packing"
packaging/make_wheel.py build/wheel -o "${1:-dist}"
