#!/usr/bin/env bash
# Generates bundles of many matrices for a check on a GPU host.
#
#   tests/device/make_bundles.sh ESCGEN OUTPUT MATRIX...
#
# OUTPUT gets for each matrix and bCol one bundle with the default schedule and one of each family with schedules that walk
# through the legal space; list.txt names them as run_bundles.sh expects, matrices by their path.
set -euo pipefail

if [ $# -lt 3 ]; then
  echo "usage: $0 ESCGEN OUTPUT MATRIX..." >&2
  exit 2
fi
escgen=$1
output=$2
shift 2
mkdir -p "$output"
: >"$output/list.txt"

# A schedule that is legal for every bCol from 1 on, and wider ones where bCol allows: index -> UFi-UFk-WarpTile-Threads.
walk() {
  local index=$1 bcol=$2
  local widest=$((bcol / 32 < 1 ? 1 : bcol / 32))
  local tiles=$((widest < 4 ? widest : 4)) warps=$((widest < 8 ? widest : 8))
  echo "$((index % 8 + 1))-$((index * 5 % 16 + 1))-$((index / 3 % tiles + 1))-$((32 * (index / 2 % warps + 1)))"
}

# Generates one bundle and lists it; fails where the schedule is illegal for the matrix or bCol.
bundle() {
  local matrix=$1 bcol=$2 schedule=$3 name=$4
  "$escgen" generate "$matrix" --bcol "$bcol" --name "$name" --schedule "$schedule" --no-verify --force --quiet \
    -o "$output" >/dev/null 2>"$output/refusal.txt" || return 1
  rm "$output/$name/$name.packed"
  echo "$name.so $name $matrix $bcol" >>"$output/list.txt"
}

# Panel schedules that walk through products of parameters; the first that is legal from some place on.
panel_walk() {
  local matrix=$1 bcol=$2 name=$3 turn=$4 schedule
  for attempt in $(seq 0 400); do
    local i=$((turn * 31 + attempt * 7))
    schedule="panel:ufi=$((1 << i % 4)),columns=$((1 << i / 2 % 8)),vector=$((1 << i / 5 % 3)),groups=$((1 << i / 3 % 6))"
    schedule+=",warps=$((1 << i / 7 % 5)),panels=$((1 << i / 11 % 5)),ufk=$((4 << i / 13 % 2))"
    schedule+=",stage=$([ $((i / 4 % 2)) = 0 ] && echo off || echo on),pdl=$([ $((i / 6 % 3)) = 0 ] && echo off || echo on)"
    bundle "$matrix" "$bcol" "$schedule" "$name" && return
  done
  echo "$0: no legal panel schedule found for $matrix, bCol $bcol" >&2
  exit 1
}

# Rows schedules that walk through products of parameters; the first that is legal from some place on.
rows_walk() {
  local matrix=$1 bcol=$2 name=$3 turn=$4 schedule
  for attempt in $(seq 0 400); do
    local i=$((turn * 29 + attempt * 5))
    schedule="rows:columns=$((1 << i % 8)),vector=$((1 << i / 3 % 3)),unroll=$((1 << i / 2 % 4)),task=$((1 << i / 5 % 10))"
    schedule+=",light=$((1 << i / 7 % 7)),warps=$((1 << i / 11 % 5))"
    schedule+=",pdl=$([ $((i / 6 % 3)) = 0 ] && echo off || echo on)"
    bundle "$matrix" "$bcol" "$schedule" "$name" && return
  done
  echo "$0: no legal rows schedule found for $matrix, bCol $bcol" >&2
  exit 1
}

index=0
for matrix in "$@"; do
  for bcol in 1 4 8 32 64 100 128 257; do
    bundle "$matrix" "$bcol" auto "m${index}_n${bcol}_auto"
    bundle "$matrix" "$bcol" "$(walk $index $bcol)" "m${index}_n${bcol}_walk"
    panel_walk "$matrix" "$bcol" "m${index}_n${bcol}_panel" "$index"
    rows_walk "$matrix" "$bcol" "m${index}_n${bcol}_rows" "$index"
    index=$((index + 1))
  done
done
rm -f "$output/refusal.txt"
wc -l <"$output/list.txt"
