#!/usr/bin/env bash
# Sets the machine up, builds everything and runs all tests. Arguments go to ctest: scripts/test.sh -R matrix
# With --whole as the first argument no sweep and no random test is cut short; that takes hours of processor time.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if [[ ${1-} == --whole ]]; then
  export ESC_SWEEP=full
  shift
  set -- --timeout 7200 "$@"
fi

scripts/setup.sh --tests
configure -D ESC_BUILD_TESTS=ON
say "Building the programs and the tests (some minutes)"
cmake --build --preset release

if ! command -v nvcc >/dev/null && [[ ! -x /usr/local/cuda/bin/nvcc ]]; then
  say "No nvcc on PATH or in /usr/local/cuda/bin: tests that compile generated code will be skipped"
fi
say "Running the tests"
status=0
ctest --preset release "$@" || status=$?
if ((status != 0)); then
  say "What failed, once more, so that its words stand last"
  ctest --preset release --rerun-failed || true
fi
exit "$status"
