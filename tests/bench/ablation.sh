#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What each step of the transformation is worth on this machine's GPU: a table on standard output, and a picture.
#
#   tests/bench/ablation.sh BIN MATRICES OUTPUT
#
# BIN holds esc-bench and esc-report, MATRICES is a list of matrix files, one per line. OUTPUT gets ablation.jsonl, with which an
# interrupted run goes on, and ablation.svg.
set -euo pipefail

if [ $# -ne 3 ]; then
  echo "usage: $0 BIN MATRICES OUTPUT" >&2
  exit 2
fi
bin=$1
matrices=$2
output=$3
space=$(dirname "${BASH_SOURCE[0]}")/panel_space.txt
mkdir -p "$output"
{ "$bin/esc-report" steps && cat "$space"; } >"$output/schedules.txt"
"$bin/esc-bench" --matrices "$matrices" --bcol 32,64,128 --space "$output/schedules.txt" --no-floor --resume \
  --json "$output/ablation.jsonl" >&2
"$bin/esc-report" ablation "$output/ablation.jsonl" --svg "$output/ablation.svg"
