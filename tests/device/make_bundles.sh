#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Generates bundles of many matrices for a check on a GPU host.
#
#   tests/device/make_bundles.sh ESCGEN OUTPUT [MATRIX...]
#
# OUTPUT gets for each matrix and bCol one bundle with the default schedule, one of each family with schedules that walk
# through the legal space, one in float64, one in f32, one in tf32 and one in 16 bits of the tensor cores or of another family, one of another loop nest - PyTorch's layout, epilogues, both, a convolution -, and one of a script
# of directives that no family has; list.txt names them as run_bundles.sh expects, NAME.nest.json is the loop nest where it is another one,
# matrices by their path; predecessor.cu is the kernel in front of each product. Without a MATRIX it is some awkward ones, which OUTPUT/matrices then has, each with a part
# of the bCols. The bundles of scripts are verified by emulation as they are made: nothing else has seen these.
set -euo pipefail

if [ $# -lt 2 ]; then
  echo "usage: $0 ESCGEN OUTPUT [MATRIX...]" >&2
  exit 2
fi
escgen=$1
output=$2
shift 2
mkdir -p "$output"
: >"$output/list.txt"
cp "$(dirname "$(realpath "$0")")/../../generator/verify/predecessor.cu" "$output"

# Writes a matrix whose non-zeros are the places for which an awk condition on row r and column c, from 0, holds.
shape() {
  local name=$1 rows=$2 columns=$3 condition=$4
  awk -v rows="$rows" -v columns="$columns" "BEGIN {
    for (r = 0; r < rows; r++) for (c = 0; c < columns; c++) if ($condition)
      entries[count++] = (r + 1) \" \" (c + 1) \" \" ((r * 7 + c * 13) % 101 - 50.5) / 64
    print \"%%MatrixMarket matrix coordinate real general\"
    print rows, columns, count + 0
    for (e = 0; e < count; e++) print entries[e]
  }" >"$output/matrices/$name.mtx"
}

# One row, one column, empty and full rows, a last panel that is short, more columns than 16 bits count.
awkward_matrices() {
  mkdir -p "$output/matrices"
  shape one_element 1 1 1
  shape one_row 1 97 'c % 3 != 1'
  shape one_column 97 1 'r % 6 != 2 && r != 96'
  shape no_non_zero 5 9 0
  shape empty_and_full_rows 14 61 'r % 4 == 3 || (r % 4 != 1 && (r * 5 + c) % 3 == 0)'
  shape short_panel 11 40 '(r * c + r + c) % 4 == 0'
  shape full 24 40 1
  shape wide 3 70001 '(r + c) % 5000 == 0'
  shape uneven 40 700 'r == 17 || (r * 31 + c) % 97 == 0'
  shape filters 20 45 '(r * 7 + c * 3) % 4 == 0'
}

# A schedule that is legal for every bCol from 1 on, and wider ones where bCol allows: index -> UFi-UFk-WarpTile-Threads.
walk() {
  local index=$1 bcol=$2
  local widest=$((bcol / 32 < 1 ? 1 : bcol / 32))
  local tiles=$((widest < 4 ? widest : 4)) warps=$((widest < 8 ? widest : 8))
  echo "$((index % 8 + 1))-$((index * 5 % 16 + 1))-$((index / 3 % tiles + 1))-$((32 * (index / 2 % warps + 1)))"
}

# Scripts of directives that are legal for every matrix and bCol and that are no family's: panels of six rows, sums that are
# added atomically instead of shared, tasks of which a lane takes three at a time, cases that are not compacted.
scripts=(
  "unroll(i, 6); enumerate(); merge(); row_tiles(i, block=4, warp=1); tile(j, columns=32, vector=2); split_k(k, warps=1, lane_groups=2); accumulate(); shuffle(); transform(A, regions); vectorize(j); unroll_k(k, 8)"
  "unroll(i, 3); enumerate(); merge(); row_tiles(i, block=2, warp=2); tile(j, columns=16, vector=1); split_k(k, warps=3, lane_groups=1); accumulate(); shuffle(); reduce_warps(); transform(A, regions); vectorize(j); unroll_k(k, 4); prefetch(A); pdl()"
  "unroll(i, 4); enumerate(); merge(); row_tiles(i, block=1, warp=1); tile(j, columns=32, vector=4); split_k(k, warps=4, lane_groups=4); accumulate(); shuffle(); transform(A, regions); vectorize(j); unroll_k(k, 4); stage(A)"
  "enumerate(); merge(); split_rows(k, 64); transform(A, tasks, 8); assign(task, warps=3, lane_groups=2); tile(j, columns=16, vector=1); accumulate(); shuffle(); vectorize(j); unroll_k(k, 3); pdl()"
  "unroll(i, 2); enumerate(); map(i, grid); map(j, lanes, columns=96, threads=64); coarsen(k, 3); transform(A, lists)"
)

# Generates one bundle, with further options, and lists it; fails where the schedule is illegal for the matrix or bCol.
bundle() {
  local matrix=$1 bcol=$2 schedule=$3 name=$4
  shift 4
  "$escgen" generate "$matrix" --bcol "$bcol" --name "$name" --schedule "$schedule" --force --quiet "$@" \
    -o "$output" >/dev/null 2>"$output/refusal.txt" || return 1
  rm "$output/$name/$name.packed"
  echo "$name.so $name ${matrix#"$output/"} $bcol ${type:-f32}" >>"$output/list.txt"
}

# Schedules of panel, of rows and of gather that walk through products of parameters: index -> schedule.
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

gather_schedule() {
  local i=$1 pdl=off
  [ $((i / 6 % 3)) = 0 ] || pdl=on
  echo "gather:warps=$((1 + i % 8)),sets=$((1 + i / 3 % 6)),pdl=$pdl"
}

# Generates a bundle, with further options, with the first schedule of a family that is legal from some place of its walk on.
first_legal() {
  local family=$1 matrix=$2 bcol=$3 name=$4 from=$5 step=$6
  shift 6
  for attempt in $(seq 0 400); do
    bundle "$matrix" "$bcol" "$("${family}_schedule" $((from + attempt * step)))" "$name" --no-verify "$@" && return
  done
  echo "$0: no legal $family schedule found for $matrix, bCol $bcol" >&2
  exit 1
}

# The bundle in float64, of each family in turn.
double_bundle() {
  local matrix=$1 bcol=$2 name=$3 type=f64
  case $((index % 4)) in
    0) bundle "$matrix" "$bcol" auto "$name" --dtype f64 --no-verify ;;
    1) bundle "$matrix" "$bcol" "$(walk $index "$bcol")" "$name" --dtype f64 --no-verify ;;
    2) first_legal rows "$matrix" "$bcol" "$name" $((index * 23)) 3 --dtype f64 ;;
    3) first_legal panel "$matrix" "$bcol" "$name" $((index * 37)) 11 --dtype f64 ;;
  esac
}

# How warps and rows of a stream's panels, and blocks of a cluster, go together, in turn.
stream_shapes=("" ",share=2,cluster=2" ",rows=32" ",share=2,rows=32,cluster=4")

# What is stored of a stream's steps, in turn, so that every shape meets several.
float_steps=("" ",dense=on" "" ",dense=listed")
placed_streams=("stream:columns=64,panels=2,warps=4,stages=2,share=2,rows=32,dense=placed" "stream:columns=64,panels=4,warps=4,stages=2,cluster=2,dense=placed"
  "stream:columns=64,panels=2,warps=2,stages=2,share=2,rows=32,cluster=4,dense=placed" "stream:columns=64,panels=1,warps=8,stages=2,share=4,rows=80,dense=placed"
  "stream:columns=64,panels=1,warps=4,stages=2,share=4,rows=176,cluster=2,dense=placed" "stream:columns=64,panels=2,warps=4,stages=2,share=2,rows=48,dense=placed")

# How long the K steps of a bitmap are, and how many blocks a cluster has, in turn.
bitmap_shapes=("" ", cluster=2" ", step=256" ", step=256, cluster=2")
warpgroup_shapes=("" ", cluster=2")

# The bundle in f32 or tf32 of the sparse tensor cores, or with dense steps: rows of B as they are and behind bulk copies of units, columns of B, and images: patches where nine divides the columns.
float_bundle() {
  local matrix=$1 bcol=$2 name=$3 type=$4 columns=32
  [ "$bcol" -gt 16 ] || columns=8
  local streamed="stream:columns=$columns,panels=2,warps=2,stages=2,pdl=on${stream_shapes[$((index / 4 % 4))]}${float_steps[$(((index / 4 + index / 16) % 4))]}" options
  [ $((index / 8 % 2)) = 0 ] || [ "$bcol" -le 16 ] || streamed=${placed_streams[$((index / 4 % ${#placed_streams[@]}))]}
  case $((index % 4)) in
    0) bundle "$matrix" "$bcol" "$streamed" "$name" --dtype $type --arch sm_90 --no-verify ;;
    1) bundle "$matrix" "$bcol" "$streamed,copies=bulk" "$name" --dtype $type --arch sm_90 --no-verify ;;
    2)
      bundle "$matrix" "$bcol" "$streamed" "$name" --layout nk --dtype $type --arch sm_90 --no-verify
      "$escgen" nest --layout nk --dtype $type >"$output/$name.nest.json"
      ;;
    3)
      read -ra options <<<"$(image_options "$matrix")"
      bundle "$matrix" "$bcol" "$streamed" "$name" "${options[@]}" --dtype $type --arch sm_90 --no-verify
      "$escgen" nest "${options[@]}" --dtype $type >"$output/$name.nest.json"
      ;;
  esac
}

# The bundle in 16 bits, of bitmaps that warps or warpgroups multiply, of another family, and of PyTorch's layout in turn.
half_bundle() {
  local matrix=$1 bcol=$2 name=$3 type=f16 columns=16 nest=(--layout nk --epilogue bias+relu)
  [ $((index % 2)) = 0 ] || type=bf16
  [ "$bcol" -gt 8 ] || columns=8
  local of_warps="bitmap: tile=32x256x$columns, warps=4, stages=3, stages_a=2, pdl=on${bitmap_shapes[$((index / 8 % 4))]}"
  local of_groups="bitmap: tile=64x256x32, warps=4, stages=4, stages_a=2, mma=wgmma, pdl=on${warpgroup_shapes[$((index / 8 % 2))]}"
  [ "$bcol" -gt 16 ] || of_groups=$of_warps
  case $((index / 2 % 4)) in
    0) bundle "$matrix" "$bcol" "$of_warps" "$name" --dtype $type --arch sm_90 --no-verify ;;
    1) bundle "$matrix" "$bcol" "$of_groups" "$name" --dtype $type --arch sm_90 --no-verify ;;
    2) first_legal panel "$matrix" "$bcol" "$name" $((index * 41)) 13 --dtype $type ;;
    3)
      bundle "$matrix" "$bcol" auto "$name" --dtype $type --no-verify "${nest[@]}"
      "$escgen" nest "${nest[@]}" --dtype $type >"$output/$name.nest.json"
      ;;
  esac
}

# Rows and columns of a matrix file.
sizes_of() {
  case $1 in
    *.mtx) grep -v '^%' "$1" | head -1 | cut -d' ' -f1,2 ;;
    *) head -1 "$1" | tr -d , | cut -d' ' -f1,2 ;;
  esac
}

# Writes the product of a matrix in CSR whose rows are scaled by numbers that the C has, and prints where.
scaled_rows() {
  local rows=$1 nest
  nest=$output/scaled_$rows.c
  {
    echo "static const float scale[$rows] = {"
    seq -f '%.2ff,' 0.25 0.25 "$((rows / 4)).$((rows % 4 * 25))"
    echo "};"
    echo "void f(int K, int N, const int rows[$((rows + 1))], const int* columns, const float* values, const float B[K][N], float C[$rows][N]) {"
    echo "  for (int i = 0; i < $rows; i++)"
    echo "    for (int j = 0; j < N; j++) {"
    echo "      float sum = 0;"
    echo "      for (int p = rows[i]; p < rows[i + 1]; p++) sum += values[p] * B[columns[p]][j];"
    echo "      C[i][j] = sum * scale[i];"
    echo "    }"
    echo "}"
  } >"$nest"
  echo "$nest"
}

# The options of a convolution whose weights are the matrix, of three by three where its columns are as many.
templates=$(dirname "$(realpath "$0")")/../../templates
image_options() {
  local rows columns edge=1
  read -r rows columns < <(sizes_of "$1")
  [ $((columns % 9)) != 0 ] || edge=3
  echo "--kernel $templates/conv2d.c --size F=$rows,C=$((columns / edge / edge)),R=$edge,S=$edge,H=7,W=5,stride=1,pad=1,dilation=1"
}

# The options of a loop nest that is not the plain product, another one for each index.
nest_options() {
  local matrix=$1 rows columns
  case $((index % 6)) in
    0) echo "--layout nk" ;;
    1) echo "--epilogue bias+relu" ;;
    2) echo "--layout nk --epilogue bias+gelu+residual" ;;
    3) echo "--epilogue clamp+bias_column+residual" ;;
    4) image_options "$matrix" ;;
    5)
      read -r rows columns < <(sizes_of "$matrix")
      echo "--kernel $(scaled_rows "$rows")"
      ;;
  esac
}

# The bundle of another loop nest.
nest_bundle() {
  local matrix=$1 bcol=$2 name=$3 options
  read -ra options <<<"$(nest_options "$matrix")"
  bundle "$matrix" "$bcol" auto "$name" --no-verify "${options[@]}"
  "$escgen" nest "${options[@]}" >"$output/$name.nest.json"
}

# The bundles of one matrix and bCol; `index` counts these pairs.
index=0
bundles_of() {
  local matrix=$1 bcol=$2 name="m${index}_n$2"
  bundle "$matrix" "$bcol" auto "${name}_auto" --no-verify
  bundle "$matrix" "$bcol" "$(walk $index "$bcol")" "${name}_atomic" --no-verify
  first_legal panel "$matrix" "$bcol" "${name}_panel" $((index * 31)) 7
  first_legal rows "$matrix" "$bcol" "${name}_rows" $((index * 29)) 5
  first_legal gather "$matrix" "$bcol" "${name}_gather" $((index * 19)) 5 --arch sm_90
  double_bundle "$matrix" "$bcol" "${name}_double"
  if ! float_bundle "$matrix" "$bcol" "${name}_split" f32 || ! float_bundle "$matrix" "$bcol" "${name}_rounded" tf32 || ! half_bundle "$matrix" "$bcol" "${name}_half"; then
    cat "$output/refusal.txt" >&2
    exit 1
  fi
  if ! nest_bundle "$matrix" "$bcol" "${name}_nest"; then
    cat "$output/refusal.txt" >&2
    exit 1
  fi
  if ! bundle "$matrix" "$bcol" "${scripts[index % ${#scripts[@]}]}" "${name}_script"; then
    cat "$output/refusal.txt" >&2
    exit 1
  fi
  index=$((index + 1))
}

bcols=(1 4 8 32 64 100 128 257)
if [ $# -gt 0 ]; then
  for matrix in "$@"; do
    for bcol in "${bcols[@]}"; do
      bundles_of "$matrix" "$bcol"
    done
  done
else
  awkward_matrices
  for matrix in "$output"/matrices/*.mtx; do
    for _ in 1 2 3; do
      bundles_of "$matrix" "${bcols[index % ${#bcols[@]}]}"
    done
  done
fi
rm -f "$output/refusal.txt"
wc -l <"$output/list.txt"
