#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets the machine up, builds everything and runs all tests, if wanted under sanitizers or counting the lines that run.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

least_coverage=90
usage="Usage: scripts/test.sh [--sanitize | --coverage] [--whole] [--case PATTERN | CTEST-ARGUMENT...]

Sets the machine up, builds everything and runs all tests. Other arguments go to ctest: scripts/test.sh --sanitize -R cli
  --case       the cases of that name alone, in whatever program they are, as --gtest_filter takes it: --case 'Verifier.*:*Digits*'
  --sanitize   under the address and undefined-behaviour sanitizers, in build/sanitize; what cannot be seen under them is skipped
  --coverage   counts which lines of the libraries run, in build/coverage, and prints the share of each room and of all;
               less than $least_coverage % of all is a failure, unless ctest was told to leave tests out
  --whole      cuts no sweep and no random test short, and draws another seed each time; that takes hours of processor time
ESC_SEED=N in the environment draws what is drawn with that seed; each program prints its own.
Exit status: 0 all passed; 1 too few lines ran; 2 bad usage; 3 something is not on the machine; else that of ctest, or of the build."

preset=release
leaves_tests_out=no
ctest_arguments=()
pattern=
while (($# > 0)); do
  argument=$1
  shift
  case $argument in
    --case)
      (($# > 0)) || fail 2 "--case takes a pattern of names, '*Digits*' say"
      pattern=$1
      shift
      ;;
    --sanitize | --coverage)
      [[ $preset == release || $preset == "${argument#--}" ]] ||
        fail 2 "--sanitize and --coverage are builds of their own: give one at a time"
      preset=${argument#--}
      ;;
    --whole)
      export ESC_SWEEP=full
      ctest_arguments=(--timeout 86400 "${ctest_arguments[@]}")
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
log=build/$preset/Testing/Temporary/LastTest.log

# run_cases PATTERN: those cases, program by program.
run_cases() {
  local program worst=0 found=no
  for program in $(ctest --preset "$preset" -N -V | sed -n 's/.*Test command: \([^ "]*_test\)$/\1/p' | sort -u); do
    if "$program" --gtest_list_tests --gtest_filter="$1" | grep -q '^  '; then
      found=yes
      "$program" --gtest_filter="$1" || (($? == 77)) || worst=1
    fi
  done
  [[ $found == yes ]] || fail 2 "no case has a name like $1; build/$preset/bin/PROGRAM --gtest_list_tests prints those of a program"
  return "$worst"
}

# summary: how many cases the programs ran, of which suites a part, and which they skipped.
summary() {
  awk '/^cases: /{passed += $2; failed += $4; skipped += $6}
       END {printf "==> %d cases passed, %d failed, %d were skipped\n", passed, failed, skipped}' "$log" >&2
  grep -hE '^(Drawn with|Takes |skipped: )' "$log" | sort -u >&2 || true
}

if [[ -n $pattern ]]; then
  say "Running the cases $pattern"
  run_cases "$pattern"
  exit
fi
say "Running the tests"
# Counters of an earlier run would tell of lines that no test runs any more.
[[ $preset != coverage ]] || rm -rf build/coverage/profile
status=0
ctest --preset "$preset" "${ctest_arguments[@]}" || status=$?
summary
if ((status != 0)); then
  say "What failed, once more, so that its words stand last"
  failed=$(sed -n 's/^\[  FAILED  \] \([^ ,]*\.[^ ,]*\).*/\1/p' "$log" | sort -u | paste -sd:)
  if [[ -n $failed ]]; then
    run_cases "$failed" || true
  else
    ctest --preset "$preset" --rerun-failed || true
  fi
fi

if [[ $preset == coverage ]]; then
  [[ $leaves_tests_out == no ]] || least_coverage=0
  scripts/coverage.py build/coverage --at-least "$least_coverage" || ((status != 0)) || status=1
fi
exit "$status"
