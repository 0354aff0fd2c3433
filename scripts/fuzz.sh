#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the libFuzzer programs of tests/fuzz and runs each; what they find is left in build/fuzz/findings.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage="Usage: scripts/fuzz.sh [RUNS | SECONDSs] [KIND...]

Builds the fuzzers and runs each of them on inputs of its KIND, one after the other: so many RUNS (100000 when nothing is
said), or for so long, as in 600s. Each begins with the seeds of the ordinary tests and with what it kept in earlier runs,
in build/fuzz/corpus/KIND. Inputs that are neither read nor refused as they should be, take longer than 25 seconds or need more
than 2 GiB are put into build/fuzz/findings; build/fuzz/bin/fuzz_KIND FILE repeats one.
Kinds: smtx mtx npy safetensors npz scipy nest nest_cpp schedule script spec manifest packed journal database; all when none is named.
The packages come with: scripts/setup.sh --tests
Prints kind, runs, findings, coverage (branches of the code that were taken) and seconds, a line each.
Exit status: 0 nothing was found; 1 something was; 2 bad usage; 3 the fuzzers cannot be built here."

limit=(-runs=100000)
if [[ ${1-} == -h || ${1-} == --help ]]; then
  echo "$usage"
  exit
elif [[ ${1-} =~ ^[1-9][0-9]*s$ ]]; then
  limit=("-max_total_time=${1%s}")
  shift
elif [[ ${1-} =~ ^[1-9][0-9]*$ ]]; then
  limit=("-runs=$1")
  shift
fi

command -v clang++-22 >/dev/null || fail 3 "there is no clang++-22 here; scripts/setup.sh --tests installs it"
cmake --preset fuzz -D CMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)" >/dev/null ||
  fail 3 "the fuzzers cannot be configured; the reason is above"
say "Building the fuzzers (some minutes the first time)"
cmake --build --preset fuzz >&2 || fail 3 "the fuzzers cannot be built; the reason is above"

mapfile -t known < <(build/fuzz/bin/write_seeds build/fuzz/seeds)
for kind in "$@"; do
  [[ " ${known[*]} " == *" $kind "* ]] || fail 2 "unknown argument '$kind'; see scripts/fuzz.sh --help"
done
(($# > 0)) || set -- "${known[@]}"

status=0
mkdir -p build/fuzz/findings
printf '%-10s %10s %9s %9s %8s\n' kind runs findings coverage seconds
for kind in "$@"; do
  corpus=build/fuzz/corpus/$kind
  log=build/fuzz/$kind.log
  mkdir -p "$corpus"
  before=$(find build/fuzz/findings -name "$kind-*" | wc -l)
  begin=$SECONDS
  # Clang keeps what it has allocated, which is no leak of ours.
  nice -n 10 "build/fuzz/bin/fuzz_$kind" "${limit[@]}" -max_len=4096 -timeout=25 -rss_limit_mb=2048 -detect_leaks=0 \
    -print_final_stats=1 "-artifact_prefix=build/fuzz/findings/$kind-" "$corpus" "build/fuzz/seeds/$kind" >"$log" 2>&1 || status=1
  runs=$(awk '/stat::number_of_executed_units/ { runs = $2 } END { print runs + 0 }' "$log")
  coverage=$(awk '{ for (i = 1; i < NF; ++i) if ($i == "cov:") covered = $(i + 1) } END { print covered + 0 }' "$log")
  after=$(find build/fuzz/findings -name "$kind-*" | wc -l)
  printf '%-10s %10s %9s %9s %8s\n' "$kind" "$runs" "$((after - before))" "$coverage" "$((SECONDS - begin))"
done
((status == 0)) || say "What was found is in build/fuzz/findings, what was said of it in build/fuzz/KIND.log"
exit "$status"
