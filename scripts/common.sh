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

# configure [OPTION...]: the release preset, through ccache where it is installed.
configure() {
  local launcher
  launcher=$(command -v ccache || true)
  say "Configuring build/release"
  cmake --preset release -D CMAKE_CXX_COMPILER_LAUNCHER="$launcher" "$@"
}
