// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "generator/schedule/directive.h"
#include "generator/schedule/tile_rules.h"

namespace esc {

/// A schedule of family gather: each warp has four rows of A beside each other, in `sets` sets, and 32 columns of C,
/// and gathers rows of B from K tiles of them in shared memory.
struct GatherSchedule {
  static constexpr int set_rows = 4;          ///< rows beside each other in a warp
  static constexpr int columns = 32;          ///< of C that a block computes: 128 bytes of a row of B
  static constexpr int vector = 4;            ///< of them that a lane has
  static constexpr int k_tile_columns = 256;  ///< of A
  static constexpr int stages = 4;            ///< K tiles in shared memory
  static constexpr int list_stages = 2;       ///< iterations whose lists are there
  static constexpr int max_sets = 8;
  static constexpr int max_warps = 16;
  static constexpr int least_architecture = 90;  ///< copies in bulk

  int sets = 4;
  int warps = 8;  ///< of a block
  bool pdl = true;

  int rows() const { return set_rows * sets; }  ///< of a warp
  int block_rows() const { return warps * rows(); }
  int threads() const { return 32 * (warps + 1); }  ///< of a block: a further warp asks for copies

  bool operator==(const GatherSchedule&) const = default;
};

/// Reads the settings after "gather:". `text` is the whole schedule, the place of errors. Throws ScheduleError.
GatherSchedule parse_gather(std::string_view text, std::string_view settings);

/// "gather: tile=336x256x32, warps=14, pdl=on".
std::string print(const GatherSchedule& schedule);

/// Throws ScheduleError where a value is out of range whatever the columns are; the second one also where it is for
/// these.
void check_ranges(const GatherSchedule& schedule);
void check_legal(const GatherSchedule& schedule, const ProductColumns& columns);

/// The shared memory of a block, about, where a row has so many entries in a K tile on average and rows are about
/// equally long.
std::uint64_t shared_bytes(const GatherSchedule& schedule, double k_tile_entries);

/// Whether the family is made for elements of this type where B and C lie as this layout says: float32, or what is
/// rounded of it, in rows.
bool can_gather(std::string_view dtype, std::string_view layout);

/// All schedules that are legal for so many columns of B, with programmatic launches.
std::vector<GatherSchedule> legal_gather_schedules(long long bcol);

/// The directives in the order of the pipeline; loops i, j, k and array A of the canonical nest.
std::vector<Directive> expand(const GatherSchedule& schedule);

}  // namespace esc
