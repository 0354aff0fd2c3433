// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "generator/support/error.h"

namespace esc {

/// unroll(i, 4): the row loop advances by `factor` and its statements are repeated: row tiles (paper, 3.2.1).
struct Unroll {
  std::string loop;
  int factor = 1;
  bool operator==(const Unroll&) const = default;
};
/// enumerate(): one case for each pattern of a row tile (paper, 3.2).
struct Enumerate {
  bool operator==(const Enumerate&) const = default;
};
/// map(i, grid): the row loop becomes thread blocks, one per (row tile, pattern) (paper, 3.2.2).
struct MapGrid {
  std::string loop;
  bool operator==(const MapGrid&) const = default;
};
/// map(j, lanes, columns=64, threads=32): a warp takes `columns` consecutive iterations of the column loop, each lane
/// every
/// 32nd of them; a block has `threads` threads (paper, 3.3.1).
struct MapLanes {
  std::string loop;
  int columns = 32;
  int threads = 32;
  bool operator==(const MapLanes&) const = default;
};
/// coarsen(k, 7): a thread takes `factor` enumerated columns per iteration and sums in scalars (paper, 3.3.2).
struct Coarsen {
  std::string loop;
  int factor = 1;
  bool operator==(const Coarsen&) const = default;
};
/// transform(A, lists): the sparse array is stored in the order in which the code reads it (paper, 3.3.3).
struct Transform {
  std::string array;
  bool operator==(const Transform&) const = default;
};
/// compact(): one body per number of non-zero rows in place of one per pattern (paper, 3.5).
struct Compact {
  bool operator==(const Compact&) const = default;
};
/// merge(): one case for all patterns of a row tile, whose updates run over every row: explicit zeros in place of
/// cases.
struct MergePatterns {
  bool operator==(const MergePatterns&) const = default;
};
/// row_tiles(i, block=4, warp=2): a thread block owns `row_tiles` consecutive row tiles, and each of its warps
/// `warp_row_tiles`.
struct AssignRowTiles {
  std::string loop;
  int row_tiles = 1;
  int warp_row_tiles = 1;
  bool operator==(const AssignRowTiles&) const = default;
};
/// tile(j, columns=32, vector=4): a block computes `columns` columns of C; a lane holds `vector` consecutive ones.
struct TileColumns {
  std::string loop;
  int columns = 32;
  int vector = 1;
  bool operator==(const TileColumns&) const = default;
};
/// split_k(k, warps=8, lane_groups=4): the columns of a row tile are dealt in turn to the lane groups of several warps.
struct SplitColumns {
  std::string loop;
  int warps = 1;
  int groups = 1;
  bool operator==(const SplitColumns&) const = default;
};
/// accumulate(): sums are kept in registers and given to C in the end.
struct AccumulateSums {
  bool operator==(const AccumulateSums&) const = default;
};
/// shuffle(): the sums of lane groups are added through the registers of their warp.
struct ShuffleSums {
  bool operator==(const ShuffleSums&) const = default;
};
/// reduce_warps(): the sums of warps are added in shared memory, after a barrier.
struct ShareSums {
  bool operator==(const ShareSums&) const = default;
};
/// transform(A, regions): the row tiles of the sparse array are stored as packets of columns, those of about the same
/// length with equally many.
struct PackRegions {
  std::string array;
  bool operator==(const PackRegions&) const = default;
};
/// vectorize(j): what a lane moves of consecutive columns it moves at once.
struct Vectorize {
  std::string loop;
  bool operator==(const Vectorize&) const = default;
};
/// unroll_k(k, 8): a lane group takes `factor` columns of A per iteration, with wide loads, and loads before it
/// multiplies.
struct BatchColumns {
  std::string loop;
  int factor = 1;
  bool operator==(const BatchColumns&) const = default;
};
/// prefetch(A): what an iteration reads of A is asked for one iteration earlier.
struct Prefetch {
  std::string array;
  bool operator==(const Prefetch&) const = default;
};
/// stage(A): each warp copies its region to shared memory before it reads it.
struct StageRegions {
  std::string array;
  bool operator==(const StageRegions&) const = default;
};
/// pdl(): programmatic dependent launch: a late wait, and the trigger after it.
struct Overlap {
  bool operator==(const Overlap&) const = default;
};
/// split_rows(k, 128): the non-zeros of a row are cut into tasks of at most `task`.
struct CutRows {
  std::string loop;
  int task = 128;
  bool operator==(const CutRows&) const = default;
};
/// transform(A, tasks, 16): the sparse array is stored as a list of tasks, longest first, those of more than `light`
/// non-zeros before the others, and the non-zeros in the order of the tasks.
struct PackTasks {
  std::string array;
  int light = 16;
  bool operator==(const PackTasks&) const = default;
};
/// assign(task, warps=4, lane_groups=8): a warp takes a heavy task or, with each of `groups` lane groups, a light one;
/// a thread block has `warps` warps.
struct AssignTasks {
  std::string loop;
  int warps = 1;
  int groups = 1;
  bool operator==(const AssignTasks&) const = default;
};
/// epilogue(): what the nest does to a complete sum is done where the sum is stored.
struct PlaceEpilogue {
  bool operator==(const PlaceEpilogue&) const = default;
};
/// mainloop(i, row_tiles=4, warps=2): a block owns `row_tiles` row tiles of 16 rows, or of as many as warp_m=32 says,
/// and goes through all columns of the sparse array, a K tile of 256 of them after the other, or as tile_k=32 says;
/// `warps` warps of each row tile take K tiles in turn, or, as split_k=2 says, two of them each.
struct Mainloop {
  static constexpr int usual_rows = 16;

  std::string loop;
  int row_tiles = 4;
  int warps = 2;
  int rows = usual_rows;
  int share = 1;
  int k_tile = 0;  ///< columns; 0 where they are as many as the type of the elements has
  bool operator==(const Mainloop&) const = default;
};
/// fragment(j, 32): a block computes so many columns of C; a lane has the sums that the tensor core gives it.
/// fragment(j, 128, warp_n=16): each of the warps that multiply the same K tiles has so many of the columns, in the
/// rows of all row tiles.
struct FragmentColumns {
  std::string loop;
  int columns = 8;
  int warp = 0;  ///< 0 where each warp has all columns, in the rows of its row tile
  bool operator==(const FragmentColumns&) const = default;
};
/// transform(A, sparse24): the row tiles of the sparse array are stored as the operands of the sparse tensor core, with
/// the columns of a K tile in an order in which at most one of two has a non-zero.
struct PackFragments {
  std::string array;
  bool operator==(const PackFragments&) const = default;
};
/// transform(A, dense): the same for the dense tensor core, with every element of every column in the matrix's order.
struct PackDense {
  std::string array;
  bool operator==(const PackDense&) const = default;
};
/// transform(A, compressed): the same, of which each lane has a list of the elements that are not zero.
struct PackListed {
  std::string array;
  bool operator==(const PackListed&) const = default;
};
/// transform(A, decompress): the same, of which each one that is not zero has its place beside it; warps put them where
/// the tensor core reads them.
struct PackPlaced {
  std::string array;
  bool operator==(const PackPlaced&) const = default;
};
/// transform(A, gathered): the rows of a warp have lists of their own, of one K tile of columns after the other.
struct PackGathered {
  std::string array;
  bool operator==(const PackGathered&) const = default;
};
/// transform(A, bitmap, warps=4): a bit for each element of the sparse array, and those that are not zero in the words
/// of the tensor core's registers. So many warps multiply at once: 1 (mma) or 4 (wgmma).
struct PackBitmap {
  std::string array;
  int warps = 1;
  bool operator==(const PackBitmap&) const = default;
};
/// transform(A, sparse24_tiles): two of each four elements of the sparse array, and which two, as the sparse tensor
/// core takes them (mma.sp).
struct PackSparse24 {
  std::string array;
  bool operator==(const PackSparse24&) const = default;
};
/// pipeline(k, 4): K tiles of the dense array and what the packed one has for them are copied to shared memory,
/// `stages` of them at a time.
struct PipelineKTiles {
  std::string loop;
  int stages = 2;
  bool operator==(const PipelineKTiles&) const = default;
};
/// pipeline(k, stages=3, stages_a=2): K steps of the dense array and packed A tiles are copied to shared memory, so
/// many of each at a time. With step=256 a K step has that many columns of the packed array, where warps multiply by
/// themselves.
struct PipelineTiles {
  std::string loop;
  int tiles = 3;
  int packed_tiles = 2;
  int step = 128;
  bool operator==(const PipelineTiles&) const = default;
};
/// copy(tma): what the pipeline copies comes by bulk copies, from compute capability 9.0 on.
struct CopyInBulk {
  bool operator==(const CopyInBulk&) const = default;
};
/// copy(bulk_a): of it the packed tiles alone; lanes go on copying K tiles.
struct CopyPackedTiles {
  bool operator==(const CopyPackedTiles&) const = default;
};
/// cluster(k, 4): the iterations of a block are dealt to `blocks` blocks of a cluster, the first of which adds up their
/// sums, from compute capability 9.0 on.
struct ClusterIterations {
  std::string loop;
  int blocks = 2;
  bool operator==(const ClusterIterations&) const = default;
};
/// warp_specialize(A): warps of their own place the values of the sparse array, an iteration ahead of those that
/// multiply them, and copy for them. warp_specialize(B): a warp of its own issues tensor copies of tiles of B.
struct WarpSpecialize {
  std::string array;
  bool operator==(const WarpSpecialize&) const = default;
};
/// store(C): warps store tiles of C of 16 x 16 elements, several elements of a lane at once.
struct StoreTiles {
  std::string array;
  bool operator==(const StoreTiles&) const = default;
};
using Directive =
    std::variant<Unroll, Enumerate, MapGrid, MapLanes, Coarsen, Transform, Compact, MergePatterns, AssignRowTiles,
                 TileColumns, SplitColumns, AccumulateSums, ShuffleSums, ShareSums, PackRegions, Vectorize,
                 BatchColumns, Prefetch, StageRegions, Overlap, CutRows, PackTasks, AssignTasks, PlaceEpilogue,
                 Mainloop, FragmentColumns, PackFragments, PackDense, PackListed, PackPlaced, PipelineKTiles,
                 CopyInBulk, CopyPackedTiles, ClusterIterations, WarpSpecialize, PackGathered, PackBitmap, PackSparse24,
                 PipelineTiles, StoreTiles>;

/// "unroll(i, 4)", "map(i, grid)", "row_tiles(i, block=4, warp=2)", "merge()", ...
std::string print(const Directive& directive);
/// A script: directives in order, separated by "; ".
std::string print(const std::vector<Directive>& directives);

/// A directive or schedule that breaks a rule: which one, on which loop, the rule, and the nearest legal choice.
class ScheduleError : public UserError {
 public:
  ScheduleError(const Directive& directive, const std::string& rule, const std::string& remedy)
      : UserError(print(directive), rule, remedy) {}
  ScheduleError(const std::string& schedule, const std::string& rule, const std::string& remedy)
      : UserError(schedule, rule, remedy) {}
};

/// Reads one directive as `print` writes it, or in the words of the release before; spaces are free.
/// parse_directive(print(d)) == d. Throws ScheduleError, with the directive as its place and the forms that its name
/// has as the remedy.
Directive parse_directive(std::string_view text);
/// Reads a script: directives separated by ";" or the ends of lines, where "#" begins a comment. Throws ScheduleError;
/// a script without a directive is refused too.
std::vector<Directive> parse_script(std::string_view text);

/// A word of a script by which the release before called a directive, a key or a form.
struct OldWord {
  std::string old;
  std::string now;
  bool operator==(const OldWord&) const = default;
};
/// The old words of a script, each once, in its order. Throws as parse_script does.
std::vector<OldWord> old_words_in(std::string_view script);

/// Rows of a row tile: as many as the row loop is unrolled by; absent where it is not.
std::optional<int> row_tile_rows(const std::vector<Directive>& directives);

}  // namespace esc
