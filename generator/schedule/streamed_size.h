// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/schedule/stream_schedule.h"
#include "generator/schedule/target.h"

namespace esc {

/// Whether a layer is of 16 bits and so large that its elements do not stay in the cache.
bool exceeds_cache(const LayerShape& shape);

/// Columns of C that a block computes: of 16 bits one by itself where B has no more, else as widest_stream has it.
int stream_columns(const LayerShape& shape);

/// Whether rows of B lie one behind the other: in layout kn, and where there is one column in either.
bool has_rows_of_b(const LayerShape& shape);

/// Whether the rules for layers that are larger than a cache speak of this one: with rows of B, without few rows that
/// have most of the non-zeros, for GPUs that all have bulk copies.
bool streams_past_cache(const LayerShape& shape, const KernelTarget& target);

/// Whether a layer of 16 bits that is streamed takes less time with quarter steps: where its elements do not stay in
/// the cache, so that fewer bytes are less time, and has zeros enough for such steps. In the cache, finding the places
/// of values takes longer than their bytes did. Measured on one NVIDIA H100
/// (docs/journal/2026-11-25-quarter-steps.md).
bool pays_in_quarters(const LayerShape& shape);

/// Whether memory gives bytes faster than a multiprocessor finds listed values and, with 32 columns, reads rows of B:
/// between an H100, where lists are 1 to 8 % faster than half steps, and an H200, where these are 11 to 31 % faster.
bool has_fast_memory(const KernelTarget& target);

/// About the bytes of a unit of 16 rows, where so large a share of the elements is not zero.
std::int64_t streamed_unit_bytes(std::string_view dtype, double density, bool quarters);

/// The same of a unit of so many rows with listed values, and of one with dense steps of any kind.
std::int64_t listed_unit_bytes(std::string_view dtype, double density, int rows);
std::int64_t dense_unit_bytes(StreamSchedule::Dense dense, std::string_view dtype, double density, int rows);

/// Whether a schedule with dense steps has room for its stages, columns that are those of the product and, where it
/// places values, instructions that all devices have that it is built for.
bool suits_dense_steps(const StreamSchedule& schedule, const LayerShape& shape, const KernelTarget& target);

/// Whether a block has shared memory for the stages of a schedule, where a unit has so many bytes.
bool fits_shared_memory(const StreamSchedule& schedule, std::int64_t unit_bytes, const LayerShape& shape,
                        const KernelTarget& target);

/// What of a streamed layer says how long it takes.
struct StreamedSize {
  std::int64_t panels;  ///< of 16 rows
  long long bcol;
  std::int64_t unit_bytes;  ///< of a panel's non-zeros in a window, about
};

StreamedSize streamed_size(const LayerShape& shape);

/// The schedule with fewer warps as far as its stages need more shared memory than a block has.
StreamSchedule with_warps_that_fit(StreamSchedule schedule, const LayerShape& shape, const KernelTarget& target);

/// Blocks of the grid, and panels of the multiprocessor that has most of them, those of each tile of columns by
/// themselves: panels are dealt to the multiprocessors in whole blocks, and the one that has most of them ends last.
std::int64_t blocks_of(const StreamSchedule& schedule, const StreamedSize& size);
std::int64_t busiest_panels(const StreamSchedule& schedule, const StreamedSize& size, const KernelTarget& target);

/// Panels of a block where each multiprocessor has as few as it can, in one block as far as that may be.
int panels_of_one_block(const StreamedSize& size, const KernelTarget& target);

/// Warps of a panel that a block has where shared memory has room for few: two as far as it has six panels at most.
int fewest_warps(int panels);

/// So many warps of a panel, as far as the windows of the layer are two turns for each of them.
int warps_of_two_turns(const LayerShape& shape, int most_warps);

/// The time of that multiprocessor in 16 bits, where a panel whose windows have 4864 bytes each takes 1 to be read;
/// fitted to 8 to 32 columns of 2048 x 2048 and of 8192 x 8192.
double expected_time(const StreamSchedule& schedule, const StreamedSize& size, const KernelTarget& target);

/// Blocks of so many rows and columns that C has, and those of a schedule, whatever their panels' height, with all of
/// each cluster.
std::int64_t blocks_of_output(const LayerShape& shape, std::int64_t rows, std::int64_t columns);
std::int64_t blocks_of(const StreamSchedule& schedule, const LayerShape& shape);

/// The schedules without their times, what takes the least first, of equals the earlier one.
std::vector<StreamSchedule> fastest_first(std::vector<std::pair<double, StreamSchedule>> timed);

/// Whether all clusters of the layer are on the GPU at once, where they are of four blocks: those leave some
/// multiprocessors of an H100 without a block, and in a second turn nearly all.
bool fits_clusters(const StreamSchedule& schedule, const LayerShape& shape);

/// Whether so many blocks leave few multiprocessors without one.
bool reaches_most(std::int64_t blocks, const KernelTarget& target);

/// The choice of a rule and one in less shared memory, with half of the warps and two stages.
std::vector<ScheduleChoice> with_leaner(const StreamSchedule& schedule, const std::string& source);

/// The same; nothing where the schedule's blocks leave many multiprocessors without one.
std::vector<ScheduleChoice> with_leaner_if_spread(const StreamSchedule& schedule, const LayerShape& shape,
                                                  const KernelTarget& target, const std::string& source);

}  // namespace esc
