#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets the machine up, builds everything and runs all tests, if wanted under sanitizers or counting the lines that run.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

least_coverage=90
usage="Usage: scripts/test.sh [--sanitize | --coverage] [--whole] [CTEST-ARGUMENT...]

Sets the machine up, builds everything and runs all tests. Other arguments go to ctest: scripts/test.sh --sanitize -R matrix
  --sanitize   under the address and undefined-behaviour sanitizers, in build/sanitize; what cannot be seen under them is skipped
  --coverage   counts which lines of the libraries run, in build/coverage, and prints the share of each room and of all;
               less than $least_coverage % of all is a failure, unless ctest was told to leave tests out
  --whole      cuts no sweep and no random test short; that takes hours of processor time
Exit status: 0 all passed; 1 too few lines ran; 2 bad usage; 3 something is not on the machine; else that of ctest, or of the build."

preset=release
leaves_tests_out=no
ctest_arguments=()
for argument in "$@"; do
  case $argument in
    --sanitize | --coverage)
      [[ $preset == release || $preset == "${argument#--}" ]] ||
        fail 2 "--sanitize and --coverage are builds of their own: give one at a time"
      preset=${argument#--}
      ;;
    --whole)
      export ESC_SWEEP=full
      ctest_arguments=(--timeout 7200 "${ctest_arguments[@]}")
      ;;
    -h | --help)
      echo "$usage"
      exit
      ;;
    -R | -E | -L | -LE | -I | -FA | --tests-* | --exclude-* | --label-* | --rerun-failed)
      leaves_tests_out=yes
      ctest_arguments+=("$argument")
      ;;
    *) ctest_arguments+=("$argument") ;;
  esac
done

scripts/setup.sh --tests
configure "$preset" -D ESC_BUILD_TESTS=ON
say "Building the programs and the tests (some minutes)"
cmake --build --preset "$preset"

if ! command -v nvcc >/dev/null && [[ ! -x /usr/local/cuda/bin/nvcc ]]; then
  say "No nvcc on PATH or in /usr/local/cuda/bin: tests that compile generated code will be skipped"
fi
say "Running the tests"
# Counters of an earlier run would tell of lines that no test runs any more.
[[ $preset != coverage ]] || rm -rf build/coverage/profile
status=0
ctest --preset "$preset" "${ctest_arguments[@]}" || status=$?
if ((status != 0)); then
  say "What failed, once more, so that its words stand last"
  ctest --preset "$preset" --rerun-failed || true
fi

if [[ $preset == coverage ]]; then
  [[ $leaves_tests_out == no ]] || least_coverage=0
  scripts/coverage.py build/coverage --at-least "$least_coverage" || ((status != 0)) || status=1
fi
exit "$status"
