// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/streamed_schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "generator/schedule/clustered_streams.h"
#include "generator/schedule/dense_streams.h"
#include "generator/schedule/element_types.h"
#include "generator/schedule/measured_streams.h"
#include "generator/schedule/one_wave_streams.h"
#include "generator/schedule/quotient_up.h"
#include "generator/schedule/small_dense_streams.h"
#include "generator/schedule/streamed_size.h"

namespace esc {
namespace {

/// The layer as the family cuts it: panels of 16 rows, windows of 256 columns or, in float32, 128, with what fills the
/// last of each up.
struct CutLayer {
  explicit CutLayer(const LayerShape& shape)
      : dtype(shape.dtype),
        layout(shape.layout),
        size(streamed_size(shape)),
        window_columns(StreamSchedule::window_columns(bytes_of_type(shape.dtype))),
        windows(quotient_up(shape.columns, window_columns)),
        nonzeros(static_cast<double>(shape.nonzeros)) {}

  double elements() const {
    return static_cast<double>(size.panels) * static_cast<double>(windows) * StreamSchedule::strip_rows *
           window_columns;
  }

  std::int64_t window_bytes(const StreamSchedule& schedule) const {
    return staged_window_bytes(schedule, dtype, layout);
  }

  std::string dtype;
  std::string layout;
  StreamedSize size;
  int window_columns;
  std::int64_t windows;
  double nonzeros;
};

/// Whether it was measured to be faster than family panel, or to be expected so
/// (docs/journal/2026-11-23-float32-streams.md): at 70 % zeros from 512 x 512 on, at 90 % above 2048 x 2048. Sparser
/// layers also take more than twice their bytes as CSR.
bool pays_in_16_bits(const CutLayer& layer) {
  constexpr double smallest = 512.0 * 512;
  constexpr double middle = 2048.0 * 2048;
  const double least_density = layer.elements() <= middle ? 1.0 / 8 : 1.0 / 11;
  return layer.elements() >= smallest && layer.nonzeros >= least_density * layer.elements();
}

/// The same for float32, of layers that fill the device, measured with 32, 64 and 128 columns of C at 50 to 90 % zeros,
/// from 1024 x 4096 to 11,008 x 4096. Below
/// 4096 x 4096 it takes more non-zeros for the three products to pay. Fewer columns, and layers of few windows, were
/// not measured, nor was where TF32 begins to pay, which does at least there.
bool pays_in_float32(const CutLayer& layer) {
  constexpr double middle = 2048.0 * 2048;
  constexpr double large = 4096.0 * 4096;
  constexpr int least_windows = 16;
  constexpr long long least_columns = 32;
  if (layer.windows < least_windows || layer.elements() < middle || layer.size.bcol < least_columns) {
    return false;
  }
  const double least_density = layer.elements() >= large ? 0.14 : 0.16;
  return layer.nonzeros >= least_density * layer.elements();
}

/// The same of images whose channels lie apart, of batches too. Panels load what filters of taps read of a channel for
/// each tap again, and where columns are steps apart for each column. Else lanes of both families move vectors, and the
/// databases have both. Measured with 1, 8 and 32 images, 196 to 100,352 columns of C.
bool pays_of_images(const CutLayer& layer) {
  constexpr long long least_columns = 196;
  constexpr long long some_columns = 1568;
  constexpr long long many_columns = 6272;
  const double density = layer.nonzeros / layer.elements();
  if (layer.size.bcol < least_columns) {
    return false;
  }
  if (has_taps(layer.layout)) {
    const double least_density = layer.size.bcol >= many_columns   ? 0.06
                                 : layer.size.bcol >= some_columns ? 0.075
                                                                   : 0.17;
    return layer.windows >= 5 && density >= least_density;
  }
  const bool steps = layer.layout.find("2n") != layer.layout.npos;
  return steps && layer.windows >= 2 && density >= 0.045;
}

/// Whether it is of 32 bits and channels stand apart from the columns of C: images by channels, and batches of matrices
/// in rows.
bool is_of_images(const LayerShape& shape) { return !is_half_type(shape.dtype) && shape.layout.starts_with("n_k_"); }

bool pays(const LayerShape& shape, const CutLayer& layer) {
  if (is_half_type(shape.dtype)) {
    return pays_in_16_bits(layer);
  }
  return is_of_images(shape) ? pays_of_images(layer)
                             : shape.layout == "kn" && fills_one_wave(shape) && pays_in_float32(layer);
}

std::int64_t stage_bytes(const StreamSchedule& schedule, const CutLayer& layer) {
  return schedule.turn_windows() * (schedule.panels * layer.size.unit_bytes + layer.window_bytes(schedule));
}

/// Of the stages, and of the sums that the warps of a panel add up in the end.
std::uint64_t shared_bytes(const StreamSchedule& schedule, const CutLayer& layer) {
  return static_cast<std::uint64_t>(shared_bytes(schedule, layer.size.unit_bytes, layer.window_bytes(schedule)));
}

/// Stages that a schedule shall have at least: where a block has one panel, its warps keep enough on their way in two.
int least_stages(const StreamSchedule& schedule) { return schedule.panels == 1 ? 2 : 3; }

/// Eight warps for a block, as far as there are windows for them and shared memory for its
/// stages; no more than it takes to go through the windows in as many turns.
int warps_for(StreamSchedule schedule, const CutLayer& layer, const KernelTarget& target) {
  constexpr int block_warps = 8;
  const auto balanced = [&](std::int64_t warps) {
    return static_cast<int>(quotient_up(layer.windows, quotient_up(layer.windows, warps)));
  };
  const int wanted = std::max(1, (block_warps + schedule.panels / 2) / schedule.panels);
  schedule.stages = least_stages(schedule);
  schedule.warps = balanced(std::min<std::int64_t>(wanted, layer.windows));
  while (schedule.warps > 1 && shared_bytes(schedule, layer) > target.shared_bytes) {
    schedule.warps = balanced(schedule.warps - 1);
  }
  return schedule.warps;
}

/// As many stages as keep enough bytes on their way, as far as there are turns and shared memory for them.
int stages_for(StreamSchedule schedule, const CutLayer& layer, const KernelTarget& target) {
  constexpr std::int64_t in_flight = 100 * 1024;
  const std::int64_t useful = std::min(1 + quotient_up(in_flight, stage_bytes(schedule, layer)),
                                       1 + quotient_up(layer.windows, schedule.warps));
  schedule.stages = static_cast<int>(std::clamp<std::int64_t>(useful, 2, StreamSchedule::max_stages));
  while (schedule.stages > 2 && shared_bytes(schedule, layer) > target.shared_bytes) {
    --schedule.stages;
  }
  return schedule.stages;
}

/// Blocks of several panels leave few multiprocessors without one, and have several turns on their way.
bool is_sensible(const StreamSchedule& schedule, const CutLayer& layer, const KernelTarget& target) {
  const std::int64_t blocks = blocks_of(schedule, layer.size);
  const std::int64_t turns = quotient_up(layer.windows, schedule.warps);
  return schedule.panels == 1 ||
         (reaches_most(blocks, target) && schedule.stages >= std::min<std::int64_t>(least_stages(schedule), 1 + turns));
}

StreamSchedule best_for(const CutLayer& layer, const KernelTarget& target) {
  StreamSchedule best;
  double least = std::numeric_limits<double>::infinity();
  for (int columns = 8; columns <= widest_stream(layer.size.bcol); columns *= 2) {
    for (int panels = 1; panels <= StreamSchedule::max_panels; ++panels) {
      StreamSchedule schedule{.columns = columns, .panels = panels};
      schedule.warps = warps_for(schedule, layer, target);
      schedule.stages = stages_for(schedule, layer, target);
      const double time = expected_time(schedule, layer.size, target);
      if (time < least && is_sensible(schedule, layer, target) &&
          shared_bytes(schedule, layer) <= target.shared_bytes) {
        best = schedule;
        least = time;
      }
    }
  }
  return best;
}

/// The best one, and those that need less shared memory.
std::vector<StreamSchedule> schedules_of_16_bits(const CutLayer& layer, const KernelTarget& target) {
  const StreamSchedule best = best_for(layer, target);
  StreamSchedule shorter = best;
  shorter.stages = 2;
  StreamSchedule narrower = shorter;
  narrower.columns = 8;
  narrower.warps = 1;
  return {best, shorter, narrower};
}

/// Those of large layers, or of small ones. Where the two meet, more than 128 columns were measured of small ones
/// alone.
std::vector<StreamSchedule> streams_with_dense_steps(const LayerShape& shape, const KernelTarget& target) {
  constexpr long long many_columns = 128;
  std::vector<StreamSchedule> first = dense_streams(shape, target);
  std::vector<StreamSchedule> second = small_dense_streams(shape, target);
  if (shape.bcol > many_columns) {
    std::swap(first, second);
  }
  return first.empty() ? second : first;
}

/// What fits on every target; bulk copies were measured for float32.
StreamSchedule smallest(const LayerShape& shape, const KernelTarget& target) {
  return {.columns = 8,
          .panels = 1,
          .warps = 1,
          .stages = 2,
          .copies = is_half_type(shape.dtype) ? StreamSchedule::Copies::lanes
                                              : StreamSchedule::measured_copies(target.oldest_architecture)};
}

}  // namespace

std::vector<ScheduleChoice> streamed_schedules(const LayerShape& shape, const KernelTarget& target) {
  if (!can_stream(shape.dtype, shape.layout) || target.oldest_architecture < StreamSchedule::least_architecture ||
      follows_power_law(shape)) {
    return {};
  }
  const CutLayer layer(shape);
  const bool in_one_wave = pays_in_one_wave(shape);
  const std::vector<StreamSchedule> dense = streams_with_dense_steps(shape, target);
  const std::vector<StreamSchedule> clustered = clustered_streams(shape, target);
  const bool unclustered = in_one_wave || pays(shape, layer);
  if (dense.empty() && clustered.empty() && !unclustered) {
    return {};
  }
  std::vector<ScheduleChoice> choices;
  const auto add = [&](const StreamSchedule& schedule, const std::string& how) {
    if (std::ranges::find(choices, Schedule(schedule), &ScheduleChoice::schedule) == choices.end()) {
      choices.push_back({schedule, "by rule: layers of this size and share of zeros are streamed; " + how});
    }
  };
  for (const StreamSchedule& schedule : dense) {
    add(schedule, schedule.ahead ? "measured on one NVIDIA H200" : "measured on one NVIDIA H100");
  }
  for (const StreamSchedule& schedule : clustered) {
    add(schedule, "measured on one NVIDIA H200");
  }
  const std::string how = shape.dtype == "f32" && shape.layout == "kn" ? "measured on one NVIDIA H100"
                          : shape.dtype == "f32" || in_one_wave        ? "measured on one NVIDIA H200"
                                                                       : "not measured for " + shape.dtype;
  if (unclustered) {
    std::vector<StreamSchedule> schedules = is_half_type(shape.dtype) ? schedules_of_16_bits(layer, target)
                                            : in_one_wave             ? one_wave_streams(shape, target)
                                                                      : measured_streams(shape, target);
    constexpr std::size_t most = 4;
    schedules.resize(std::min(schedules.size(), most));
    for (const StreamSchedule& schedule : schedules) {
      add(schedule, how);
    }
  }
  // Where only dense steps pay, other families are faster than that which has room for all patterns.
  if (unclustered || !clustered.empty()) {
    add(smallest(shape, target), how);
  }
  return choices;
}

double streamed_bytes(const LayerShape& shape, StreamSchedule::Dense dense) {
  const CutLayer layer(shape);
  const std::int64_t unit_bytes =
      dense == StreamSchedule::Dense::off
          ? layer.size.unit_bytes
          : dense_unit_bytes(dense, shape.dtype, shape.density(), StreamSchedule::strip_rows);
  return static_cast<double>(layer.size.panels) * static_cast<double>(layer.windows) * static_cast<double>(unit_bytes);
}

}  // namespace esc
