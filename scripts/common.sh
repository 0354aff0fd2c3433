# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the scripts share; sourced, not run. Leaves the caller in the project's root.

CDPATH="" cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

# Progress goes to standard error, so that results can be piped.
say() {
  printf '==> %s\n' "$*" >&2
}

# fail STATUS MESSAGE...
fail() {
  local status=$1
  shift
  printf 'error: %s\n' "$*" >&2
  exit "$status"
}

# configure PRESET [OPTION...]: that preset, through ccache where it is installed. A new folder of the release build
# takes Clang 22, which is faster than GCC 12, unless CXX in the environment names another compiler.
configure() {
  local preset=$1 launcher compiler=()
  shift
  launcher=$(command -v ccache || true)
  if [[ $preset == release && -z ${CXX:-} && ! -f build/release/CMakeCache.txt ]] &&
    command -v clang++-22 >/dev/null; then
    compiler=(-D CMAKE_CXX_COMPILER=clang++-22)
  fi
  say "Configuring build/$preset"
  cmake --preset "$preset" -D CMAKE_CXX_COMPILER_LAUNCHER="$launcher" "${compiler[@]}" "$@"
}
