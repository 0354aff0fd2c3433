// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "generator/schedule/directive.h"
#include "generator/schedule/product_columns.h"

namespace esc {

/// A schedule whose blocks own row tiles: all non-zeros of a row tile are added up in one block, so that C is stored
/// once, without atomic adds, without being set to zero, in one launch. The columns of a row tile are the union of its
/// rows' columns; a row that lacks one multiplies by an explicit zero.
///
/// A lane holds `vector` consecutive columns of C: as many as it loads at once or, where rows of B have them apart, up
/// to 16. columns / vector lanes form a group, which covers the block's columns; `groups` of them in one warp and
/// `warps` warps share the columns of a row tile, and their sums are added at the end.
struct PanelSchedule {
  int ufi = 2;         ///< rows in a row tile
  int columns = 32;    ///< columns of C that a block computes
  int vector = 4;      ///< consecutive columns of a lane: floats per load of B
  int groups = 4;      ///< lane groups of a warp that share the columns of a row tile
  int warps = 8;       ///< warps that share the columns of a row tile
  int row_tiles = 1;   ///< row tiles of a block
  int ufk = 4;         ///< columns of A per lane group and iteration
  bool stage = false;  ///< whether a warp copies its packed region to shared memory first
  bool pdl = true;     ///< programmatic dependent launch: the packed matrix is read before the kernel before has ended

  static constexpr int max_ufi = 8;
  static constexpr int max_columns = 128;
  static constexpr int max_vector = 4;          ///< of columns that are moved at once
  static constexpr int max_spread_vector = 16;  ///< of columns that are not one after the other, each moved by itself
  static constexpr int max_lane_sums = 64;      ///< that a lane has registers for
  static constexpr int max_warps = 16;          ///< of a row tile, and of a block
  static constexpr int max_row_tiles = 128;
  static constexpr int max_ufk = 8;
  static constexpr int max_group_columns =
      512;  ///< of a row tile, that one lane group adds up: bounds how many products one float32 sum runs over

  /// Lanes of a group, groups of a warp, row tiles that a warp works on, warps and threads of a block.
  int group_lanes() const { return columns / vector; }
  int warp_groups() const { return 32 / group_lanes(); }
  int warp_row_tiles() const { return warp_groups() / groups; }
  int block_warps() const { return warps * row_tiles / warp_row_tiles(); }
  int threads() const { return 32 * block_warps(); }
  /// Bytes of shared memory in which the warps of a row tile leave their sums; 0 where one warp has a row tile to
  /// itself.
  int sum_bytes() const { return warps == 1 ? 0 : warps * row_tiles * ufi * columns * 4; }

  bool operator==(const PanelSchedule&) const = default;
};

/// Reads the settings after "row tile:". `text` is the whole schedule, the place of errors. Throws ScheduleError.
PanelSchedule parse_panel(std::string_view text, std::string_view settings);

/// "panel: tile=2x32, thread=2x4, split_k=8, lane_groups=4, unroll_k=4, stage_a=off, pdl=on".
std::string print(const PanelSchedule& schedule);

/// Throws ScheduleError where a value is out of range whatever the columns are; the second one also where it is for
/// these. Whether a staged region fits into shared memory depends on the matrix and is checked when that is packed.
void check_ranges(const PanelSchedule& schedule);
void check_legal(const PanelSchedule& schedule, const ProductColumns& columns);

/// Every legal schedule of the family for this bCol with pdl on, in ascending order.
std::vector<PanelSchedule> legal_panel_schedules(long long bcol);

/// The directives in the order of the pipeline; loops i, j, k and array A of the canonical nest.
std::vector<Directive> expand(const PanelSchedule& schedule);

}  // namespace esc
