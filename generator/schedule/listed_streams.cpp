// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/listed_streams.h"

#include <cstdint>

#include "generator/schedule/streamed_size.h"

namespace esc {
namespace {

/// With fewer non-zeros steps of the sparse tensor core have about as many bytes, and their values need not be found.
constexpr double sparsest = 0.45;
constexpr long long most_columns = 16;

StreamSchedule fastest_with_lists(long long bcol) {
  StreamSchedule schedule{.columns = widest_stream(bcol), .panels = 2, .warps = 4, .stages = 2, .rows = StreamSchedule::max_rows, .copies = StreamSchedule::Copies::bulk};
  if (schedule.columns >= StreamSchedule::least_columns_of_boxes) {
    schedule.panels = 4;
    schedule.warps = 3;
    schedule.rows = StreamSchedule::strip_rows;
    schedule.copies = StreamSchedule::Copies::units;
  }
  schedule.dense = StreamSchedule::Dense::listed;
  return schedule;
}

}  // namespace

std::vector<ScheduleChoice> listed_streams(const LayerShape& shape, const KernelTarget& target) {
  const bool measured = exceeds_cache(shape) && shape.layout == "kn" && shape.bcol <= most_columns && shape.density() >= sparsest && !follows_power_law(shape);
  if (!measured || target.oldest_architecture < StreamSchedule::bulk_architecture) {
    return {};
  }
  // A multiprocessor that has two blocks finds the values of both, which takes longer than to read what is saved.
  const StreamSchedule schedule = fastest_with_lists(shape.bcol);
  const std::int64_t blocks = blocks_of(schedule, shape);
  if (!reaches_most(blocks, target) || blocks > target.multiprocessors) {
    return {};
  }
  StreamSchedule leaner = schedule;
  leaner.warps = schedule.warps / 2;
  const char* const source = "by rule: layers larger than a cache with half of their elements not zero are streamed with listed values; measured on one NVIDIA H100";
  return {{schedule, source}, {leaner, source}};
}

}  // namespace esc
