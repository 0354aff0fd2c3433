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

# configure PRESET [OPTION...]: that preset, through ccache where it is installed.
configure() {
  local preset=$1 launcher
  shift
  launcher=$(command -v ccache || true)
  say "Configuring build/$preset"
  cmake --preset "$preset" -D CMAKE_CXX_COMPILER_LAUNCHER="$launcher" "$@"
}
