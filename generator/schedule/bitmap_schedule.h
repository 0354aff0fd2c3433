// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "generator/schedule/directive.h"
#include "generator/schedule/product_columns.h"

namespace esc {

/// A schedule of family bitmap, for 16-bit weights of which one packed matrix serves every number of columns: a bit for
/// each weight, and the non-zeros as mma.m16n8k16 takes them, or, of weights with two non-zeros in each four, two of
/// these as mma.sp.m16n8k32 takes them. A block owns `row_tiles` row tiles of 16 rows and goes
/// through all columns of A, a K tile of 256 at a time; `warps` warps of each row tile take K tiles in turn and add up
/// their sums in the end (split-K within the block).
struct BitmapSchedule {
  static constexpr int row_tile_rows = 16;
  static constexpr int tile_columns_of_a = 256;  ///< of a K tile
  static constexpr int block_columns = 64;       ///< of a K block: what a lane has 32 bits for
  static constexpr int half_tile = tile_columns_of_a / 2;
  static constexpr int least_columns = 8;  ///< where each warp multiplies by itself
  static constexpr int max_columns = 256;
  static constexpr int max_warp_columns = 64;  ///< where each warp multiplies by itself
  static constexpr int least_warpgroup_columns = 32;
  static constexpr int warpgroup_warps = 4;
  static constexpr int max_warps = 16;  ///< of a block
  static constexpr int max_stages = 8;
  static constexpr int max_cluster = 8;  ///< what every GPU with clusters has room for
  static constexpr int least_architecture = 80;
  static constexpr int warpgroup_architecture = 90;  ///< the only one whose warpgroups multiply

  /// Who multiplies at once: a warp (mma), or four of them (wgmma, on devices of sm_90a; elsewhere each by itself all
  /// the same).
  enum class Mma { warp, warpgroup };

  /// What packed tiles of A have: bits and non-zeros, or two of each four elements (where each warp multiplies by
  /// itself).
  enum class Format { bitmap, sparse24 };

  int columns = 8;       ///< columns of C that a block computes: 8 to 64, of warpgroups 32 to 256
  int row_tiles = 2;     ///< row tiles of a block
  int warps = 8;         ///< warps of a row tile
  int stages = 3;        ///< K steps of B that a warp has in shared memory or on their way
  int packed_tiles = 2;  ///< K tiles of A, likewise
  int step =
      half_tile;  ///< columns of A of a K step, where each warp multiplies by itself: half a K tile, or all of it
  Mma mma = Mma::warp;
  int cluster = 1;  ///< blocks of a cluster that take K tiles in turn, too (split-K), from compute capability 9.0 on
  Format format = Format::bitmap;
  bool pdl = true;  ///< programmatic dependent launch: the packed matrix is read before the previous kernel has ended

  int consumer_threads() const { return 32 * row_tiles * warps; }
  /// Of a block; where warpgroups multiply, with producer warps.
  int threads() const;
  /// Whether blocks of a cluster own as many of a tile's columns each: in tiles of 16, which are stored whole.
  static constexpr bool deals_sums(std::int64_t columns, int cluster) { return columns % (16 * cluster) == 0; }
  bool has_warpgroups() const { return mma == Mma::warpgroup; }
  bool is_sparse24() const { return format == Format::sparse24; }
  /// Columns of A, and rows of B, of a K step: what a stage of B holds.
  int step_columns() const { return has_warpgroups() ? block_columns : step; }

  bool operator==(const BitmapSchedule&) const = default;
};

/// The producer warps of a block whose warpgroups multiply: two, or as many as a warpgroup has where the consumers lack
/// registers and take over theirs (setmaxnreg).
class ProducerWarps {
 public:
  static constexpr int own_registers = 24;  ///< of each thread, where consumers take over the others

  /// Of a block with so many consumer threads, which have `tile_columns` columns of C in 64 rows a warpgroup.
  ProducerWarps(int consumer_threads, int tile_columns)
      : consumer_threads_(consumer_threads), sums_(tile_columns / 2) {}

  int warps() const { return exchange_registers() ? BitmapSchedule::warpgroup_warps : issuing_warps; }
  bool exchange_registers() const;
  /// That the compiler may give each thread of the block.
  int most_registers() const;
  /// Of each consumer thread, where they are exchanged.
  int consumer_registers() const;

 private:
  static constexpr int issuing_warps = 2;
  int consumer_threads_;
  int sums_;
};

/// Reads the settings after "bitmap:". `text` is the whole schedule, the place of errors. Throws ScheduleError.
BitmapSchedule parse_bitmap(std::string_view text, std::string_view settings);

/// "bitmap: tile=32x256x8, warps=16, stages=3, stages_a=2, pdl=on", with "step=256", "mma=wgmma", "cluster=2" and
/// "format=sparse24" before pdl where they are not the usual ones.
std::string print(const BitmapSchedule& schedule);

/// Throws ScheduleError where a value is out of range whatever the columns are; the second one also where it is for
/// these.
void check_ranges(const BitmapSchedule& schedule);
void check_legal(const BitmapSchedule& schedule, const ProductColumns& columns);

/// Whether the family is made for elements of this type: 16 bits, in any layout.
bool can_use_bitmap(std::string_view dtype);

/// Bytes of a block in shared memory, where a packed tile has so many at most.
std::int64_t shared_bytes(const BitmapSchedule& schedule, std::int64_t packed_tile_bytes);

/// The most columns of C that a block may compute of so many: a power of two.
int widest_bitmap_tile(long long columns);

/// All schedules that are legal for so many columns of B, with programmatic launches.
std::vector<BitmapSchedule> legal_bitmap_schedules(const ProductColumns& given);

/// The directives in the order of the pipeline; loops i, j, k and array A of the canonical nest.
std::vector<Directive> expand(const BitmapSchedule& schedule);

}  // namespace esc
