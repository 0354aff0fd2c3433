#!/usr/bin/env bash
# Compiles and checks, on a GPU host, what make_bundles.sh generated.
#
#   tests/device/run_bundles.sh DEVICE_CHECK BUNDLES [SANITIZED]
#
# BUNDLES is make_bundles.sh's OUTPUT; the matrices stand where list.txt says. Afterwards the first SANITIZED bundles
# (default 0) of each quarter of the list run again under compute-sanitizer: memcheck, racecheck and initcheck.
set -euo pipefail

device_check=$(realpath "$1")
cd "$2"
sanitized=${3:-0}
list=$(mktemp)

compile() {
  nvcc -std=c++17 -O3 -arch=native -Werror all-warnings -Xcompiler -fPIC -shared -o "$1.so" "$1/$1.cu" "$1/$1_transformer.cpp"
}
export -f compile
cut -d' ' -f2 list.txt | xargs -P "$(nproc)" -I{} bash -c 'compile {}'
sed "s#^#$PWD/#" list.txt >"$list"
"$device_check" "$list"

if [ "$sanitized" -gt 0 ]; then
  total=$(wc -l <list.txt)
  some=$(mktemp)
  for quarter in 0 1 2 3; do
    sed -n "$((quarter * total / 4 + 1)),$((quarter * total / 4 + sanitized))p" "$list"
  done >"$some"
  for tool in memcheck racecheck initcheck; do
    echo "compute-sanitizer $tool:"
    compute-sanitizer --tool "$tool" --error-exitcode 9 "$device_check" "$some"
  done
fi
