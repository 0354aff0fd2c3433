#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles what make_bundles.sh generated, each bundle into a shared library with the CUDA runtime in it: OUTPUT/NAME.so, and predecessor.so.
#
#   tests/device/compile_bundles.sh OUTPUT [ARCHITECTURE]
#
# For the GPU of this machine, or for an ARCHITECTURE as in sm_90a, which needs no GPU here. Bundles that have their library
# keep it. A warning is an error.
set -euo pipefail

cd "$1"
export ARCHITECTURE=${2:-native}

# A library of sources: NAME SOURCE...
compile() {
  local name=$1
  shift
  [ -f "$name.so" ] && return
  nvcc -std=c++17 -O3 -arch="$ARCHITECTURE" -Werror all-warnings -Xcompiler -fPIC -shared -o "$name.part" "$@"
  strip "$name.part"
  mv "$name.part" "$name.so"
}
compile_bundle() {
  compile "$1" "$1/$1.cu" "$1/$1_transformer.cpp"
}
export -f compile compile_bundle
compile predecessor predecessor.cu
cut -d' ' -f2 list.txt | xargs -P "$(nproc)" -I{} bash -c 'set -e; compile_bundle {}'
