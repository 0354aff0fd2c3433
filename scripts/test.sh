#!/usr/bin/env bash
# Sets the machine up, builds everything and runs all tests. Arguments go to ctest: scripts/test.sh -R matrix
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

scripts/setup.sh --tests
configure -D ESC_BUILD_TESTS=ON
say "Building the programs and the tests (some minutes)"
cmake --build --preset release

if ! command -v nvcc >/dev/null && [[ ! -x /usr/local/cuda/bin/nvcc ]]; then
  say "No nvcc on PATH or in /usr/local/cuda/bin: tests that compile generated code will be skipped"
fi
say "Running the tests"
ctest --preset release "$@"
