// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "generator/schedule/directive.h"
#include "generator/schedule/product_columns.h"

namespace esc {

/// A schedule for weights that are streamed from memory through the sparse tensor cores. A block owns `row_tiles` row
/// tiles of `rows` rows and goes through all columns of A, of 32 bits, a K tile of 128 at a time;
/// `warps` warps of each row tile take K tiles in turn, `share` of them the same one, of which each has a part. The
/// rows of B for a K tile and what the row tiles have there are copied to shared memory, `stages` iterations of the
/// warps at once.
struct StreamSchedule {
  int columns = 8;    ///< columns of C that a block computes: 8 to 64
  int row_tiles = 4;  ///< row tiles of a block
  int warps = 2;      ///< warps of a row tile
  int stages = 4;     ///< iterations whose operands are in shared memory or on their way
  bool pdl = true;    ///< programmatic dependent launch: the packed matrix is read before the kernel before has ended
  int share = 1;      ///< warps of a row tile that have a K tile together
  /// Of a row tile, 16 or 32: what mma.sp multiplies at once, or twice that, for which a warp finds elements of B once.
  /// Any multiple of 16 where values are placed.
  int rows = 16;
  /// Who copies to shared memory: the lanes of the warps, 16 bytes each, or from compute capability 9.0 on the engine
  /// for bulk copies, the packed tiles of A alone or K tiles of B too.
  enum class Copies { cp_async, bulk_a, tma } copies = Copies::cp_async;

  /// Blocks of a cluster that share the K tiles of their row tiles, from compute capability 9.0 on; for matrices whose
  /// rows are too few for all multiprocessors.
  int cluster = 1;
  bool ahead =
      false;  ///< whether as many warps again copy, and place values an iteration ahead of those that multiply them
  /// Whether steps are of the dense tensor core, which take columns in their order: with all elements stored, the
  /// least to do where many are not zero, or with those alone that are not zero, the fewest bytes. Placed in shared
  /// memory, in K tiles of 32 columns, the tensor core multiplies them for four warps at once: for many columns of C,
  /// of which each warp then has 16.
  enum class Dense { off, on, listed, placed } dense = Dense::off;

  static constexpr int m16_tile_rows = 16;  ///< that mma.sp multiplies
  static constexpr int max_rows = 32;
  static constexpr int max_placed_rows = 192;  ///< of a row tile whose values are placed

  /// Registers of each of so many threads of a block.
  static constexpr int thread_registers(int threads) { return 65536 / threads / 8 * 8; }
  /// Where half of them place values, what these need, and what they leave for the others; all have what a thread can
  /// use where they are few.
  static constexpr int most_registers = 255;
  static constexpr int placing_registers = 56;
  static constexpr int multiplying_registers(int threads) {
    return std::min(2 * thread_registers(threads) - placing_registers, most_registers / 8 * 8);
  }
  static constexpr bool exchanges_registers(int threads) { return thread_registers(threads) < most_registers; }

  /// Rows of a block whose values are placed, where a thread has so many registers. It has half as many sums, which
  /// leave it 3 of 8 of them: with fewer ptxas makes products of the tensor core one after the other, and of such
  /// kernels some were wrong under compute-sanitizer.
  static constexpr int most_placed_rows(int registers) {
    return std::min(max_placed_rows, registers * 5 / 8 * 2 / m16_tile_rows * m16_tile_rows);
  }
  static constexpr int max_share = 8;
  static constexpr int least_columns_of_boxes =
      16;  ///< with fewer a row of a K tile is so short that lanes copy it faster than the engine
  static constexpr int padding_of_boxes =
      8;  ///< columns of B after those of a row, so that four rows lie in different banks
  static constexpr int element_bytes = 4;
  static constexpr int k_tile_columns = 128;                           ///< of A
  static constexpr int k_tile_bytes = k_tile_columns * element_bytes;  ///< of a row of a K tile
  static constexpr int k_tile_in_texts = 256;  ///< that texts of schedules have, since K tiles of 16 bits had so many
  static constexpr int placed_columns = 32;    ///< of a K tile whose values are placed
  static constexpr int placed_architecture =
      90;  ///< which alone has the instruction that multiplies for four warps; others go on warp by warp
  static constexpr int product_warps = 4;  ///< that the tensor core multiplies for at once
  static constexpr int warp_columns = 16;  ///< of C that each of them has
  static constexpr int max_columns = 64;
  static constexpr int max_placed_columns = 128;
  static constexpr int max_row_tiles = 16;  ///< of a block, times the warps of each
  static constexpr int max_stages = 8;
  static constexpr int least_stages_ahead = 3;  ///< where values are placed an iteration ahead
  static constexpr int max_consumer_warps =
      8;  ///< that multiply then: an instruction of the tensor core has to do with what a launch gives each thread
  static constexpr int max_cluster = 8;            ///< what every GPU with clusters has room for
  static constexpr int least_architecture = 80;    ///< the first one with mma.sp
  static constexpr int bulk_architecture = 90;     ///< the first one whose engine copies in bulk
  static constexpr int cluster_architecture = 90;  ///< the first one with clusters of blocks

  /// The key of steps of one non-zero of four, which kernels of 16 bits had, and the one before it.
  static constexpr std::array<std::string_view, 2> gone_keys{"sparse14", "quarters"};

  int row_m16_tiles() const { return rows / m16_tile_rows; }
  bool is_placed() const { return dense == Dense::placed; }
  int block_rows() const { return row_tiles * rows; }
  int consumer_group_warps() const { return row_tiles * share; }  ///< that multiply the same K tiles
  int iteration_k_tiles() const { return warps / share; }         ///< that a block has in an iteration
  int threads() const { return 32 * row_tiles * warps * (ahead ? 2 : 1); }
  int placed_buffers() const { return ahead ? 2 : 1; }  ///< K tiles of a consumer group whose values are placed
  int most_block_rows() const {
    return most_placed_rows(ahead ? multiplying_registers(threads()) : thread_registers(threads()));
  }  ///< whose values are placed
  int columns_of_k_tile() const { return is_placed() ? placed_columns : k_tile_columns; }

  bool operator==(const StreamSchedule&) const = default;
};

/// Reads the settings after "stream:". `text` is the whole schedule, the place of errors. Throws ScheduleError.
StreamSchedule parse_stream(std::string_view text, std::string_view settings);

/// "stream: tile=64x256x8, warps=8, stages=4, copy=cp_async, pdl=on", with warp_m, split_k, cluster, warp_specialized
/// and format where they are not the usual ones.
std::string print(const StreamSchedule& schedule);

/// Throws ScheduleError where a value is out of range whatever the columns are; the second one also where it is for
/// these.
void check_ranges(const StreamSchedule& schedule);
void check_legal(const StreamSchedule& schedule, const ProductColumns& columns);

/// Whether the family is made for elements of this type: float32 and TF32, in any layout.
bool can_stream(std::string_view dtype);

/// Whether rows of B share elements, as the taps of a filter do: its class of layouts has a dimension that both a row
/// and a column index.
bool has_taps(std::string_view layout);

/// Most columns of C that a block computes where there are so many: a power of two, 8 at least.
int widest_stream(long long columns);

/// The same where values are placed: 64 or 128.
int widest_placed_stream(long long columns);

/// Whether K tiles of B come as boxes by tensor copies, where B lies as this layout says and a call allows vectors.
bool copies_boxes(const StreamSchedule& schedule, std::string_view layout);

/// Bytes of a K tile of B in shared memory. What a filter's taps share is there once; that is about what filters of
/// three by three take of images of 7 to 56 rows.
std::int64_t staged_k_tile_bytes(const StreamSchedule& schedule, std::string_view layout);

/// Bytes of a block in shared memory: packed tiles and K tiles of all stages, values that are placed, and the sums that
/// the warps of a row tile and the blocks of a cluster leave for each other. These take the places of the others, but
/// in clusters only where values are placed.
std::int64_t shared_bytes(const StreamSchedule& schedule, std::int64_t packed_tile_bytes, std::int64_t k_tile_bytes);

/// The directives in the order of the pipeline; loops i, j, k and array A of the canonical nest.
std::vector<Directive> expand(const StreamSchedule& schedule);

}  // namespace esc
