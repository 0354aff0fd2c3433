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

# Schedules of panel and of rows that walk through products of parameters: index -> schedule.
panel_schedule() {
  local i=$1 stage=off pdl=off
  [ $((i / 4 % 2)) = 0 ] || stage=on
  [ $((i / 6 % 3)) = 0 ] || pdl=on
  local tile="ufi=$((1 << i % 4)),columns=$((1 << i / 2 % 8)),vector=$((1 << i / 5 % 3)),groups=$((1 << i / 3 % 6))"
  local block="warps=$((1 << i / 7 % 5)),panels=$((1 << i / 11 % 5)),ufk=$((4 << i / 13 % 2))"
  echo "panel:$tile,$block,stage=$stage,pdl=$pdl"
}
rows_schedule() {
  local i=$1 pdl=off
  [ $((i / 6 % 3)) = 0 ] || pdl=on
  local task="columns=$((1 << i % 8)),vector=$((1 << i / 3 % 3)),unroll=$((1 << i / 2 % 4)),task=$((1 << i / 5 % 10))"
  echo "rows:$task,light=$((1 << i / 7 % 7)),warps=$((1 << i / 11 % 5)),pdl=$pdl"
}

# Generates a bundle with the first schedule of a family that is legal from some place of its walk on.
first_legal() {
  local family=$1 matrix=$2 bcol=$3 name=$4 from=$5 step=$6
  for attempt in $(seq 0 400); do
    bundle "$matrix" "$bcol" "$("${family}_schedule" $((from + attempt * step)))" "$name" && return
  done
  echo "$0: no legal $family schedule found for $matrix, bCol $bcol" >&2
  exit 1
}

index=0
for matrix in "$@"; do
  for bcol in 1 4 8 32 64 100 128 257; do
    bundle "$matrix" "$bcol" auto "m${index}_n${bcol}_auto"
    bundle "$matrix" "$bcol" "$(walk $index $bcol)" "m${index}_n${bcol}_walk"
    first_legal panel "$matrix" "$bcol" "m${index}_n${bcol}_panel" $((index * 31)) 7
    first_legal rows "$matrix" "$bcol" "m${index}_n${bcol}_rows" $((index * 29)) 5
    index=$((index + 1))
  done
done
rm -f "$output/refusal.txt"
wc -l <"$output/list.txt"
