#!/usr/bin/env bash
# Generates bundles of many matrices for a check on a GPU host.
#
#   tests/device/make_bundles.sh ESCGEN OUTPUT MATRIX...
#
# OUTPUT gets one bundle for each matrix and bCol with the default schedule, and as many with schedules that walk through the
# legal space; list.txt names them as run_bundles.sh expects, matrices by their path.
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

index=0
for matrix in "$@"; do
  for bcol in 1 4 8 32 64 100 128 257; do
    for schedule in auto "$(walk $index $bcol)"; do
      name="m${index}_n${bcol}_$([ "$schedule" = auto ] && echo auto || echo walk)"
      "$escgen" generate "$matrix" --bcol "$bcol" --name "$name" --schedule "$schedule" --no-verify --force --quiet \
        -o "$output" >/dev/null
      rm "$output/$name/$name.packed"
      echo "$name.so $name $matrix $bcol" >>"$output/list.txt"
    done
    index=$((index + 1))
  done
done
wc -l <"$output/list.txt"
