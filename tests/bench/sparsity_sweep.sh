#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Times over the share of zeros on this machine's GPU, ours beside the libraries: a table on standard output, and a picture.
#
#   tests/bench/sparsity_sweep.sh BIN BCOL OUTPUT MATRIX...
#
# BIN holds esc-bench and esc-report. The matrices have one shape and different shares of zeros, as from
# `escgen sample --rows 512 --cols 512 --sparsity 0.9 -o z90.smtx`. OUTPUT gets sweep_BCOL.jsonl, with which an interrupted run
# goes on, and sweep_BCOL.svg.
set -euo pipefail

if [ $# -lt 4 ]; then
  echo "usage: $0 BIN BCOL OUTPUT MATRIX..." >&2
  exit 2
fi
bin=$1
bcol=$2
output=$3
shift 3
here=$(dirname "${BASH_SOURCE[0]}")
mkdir -p "$output"
cat "$here/panel_space.txt" "$here/panel_space_narrow.txt" >"$output/schedules_$bcol.txt"
"$bin/esc-bench" "$@" --bcol "$bcol" --space "$output/schedules_$bcol.txt" --no-floor --resume \
  --json "$output/sweep_$bcol.jsonl" >&2
"$bin/esc-report" sweep --bcol "$bcol" "$output/sweep_$bcol.jsonl" --svg "$output/sweep_$bcol.svg"
