// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/streamed_schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "generator/schedule/element_types.h"

namespace esc {
namespace {

std::int64_t quotient_up(std::int64_t value, std::int64_t divisor) { return (value + divisor - 1) / divisor; }

/// The layer as the family cuts it: panels of 16 rows, windows of 256 columns or, in float32, 128, with what fills the
/// last of each up.
struct CutLayer {
  explicit CutLayer(const LayerShape& shape)
      : split(!is_half_type(shape.dtype)),
        bcol(shape.bcol),
        panels(quotient_up(shape.rows, StreamSchedule::panel_height)),
        window_columns(StreamSchedule::window_columns(bytes_of_type(shape.dtype))),
        windows(quotient_up(shape.columns, window_columns)),
        nonzeros(static_cast<double>(shape.nonzeros)),
        density(nonzeros / (static_cast<double>(shape.rows) * static_cast<double>(shape.columns))) {}

  double elements() const {
    return static_cast<double>(panels) * static_cast<double>(windows) * StreamSchedule::panel_height * window_columns;
  }

  bool split;  ///< float32: products of three
  long long bcol;
  std::int64_t panels;
  int window_columns;
  std::int64_t windows;
  double nonzeros;
  double density;  ///< without what fills up
};

/// Whether it was measured to be faster than family panel, or to be expected so (docs/performance.md): at 70 % zeros from 512 x 512 on, at 90 %
/// above 2048 x 2048. Sparser layers also take more than twice their bytes as CSR.
bool pays_in_16_bits(const CutLayer& layer) {
  constexpr double smallest = 512.0 * 512;
  constexpr double middle = 2048.0 * 2048;
  const double least_density = layer.elements() <= middle ? 1.0 / 8 : 1.0 / 11;
  return layer.elements() >= smallest && layer.nonzeros >= least_density * layer.elements();
}

/// The same for float32, measured with 32 and 128 columns of C at 50 to 80 % zeros, from 1024 x 1024 to 11,008 x 4096:
/// below 4096 x 4096 it takes more columns for the three products to pay. Fewer columns, and layers of few windows,
/// were not measured.
bool pays_in_float32(const CutLayer& layer) {
  constexpr double middle = 2048.0 * 2048;
  constexpr double large = 4096.0 * 4096;
  constexpr int least_windows = 16;
  const double least_density = layer.elements() < large ? 0.27 : 0.19;
  return layer.windows >= least_windows && layer.elements() >= middle &&
         layer.bcol >= (layer.elements() < large / 2 ? 128 : 32) && layer.nonzeros >= least_density * layer.elements();
}

/// About what a unit of a random pattern takes: 8 steps from 70 % zeros on, with an extra now and then; more of both where there are fewer zeros.
std::int64_t unit_bytes(const CutLayer& layer) {
  const double density = layer.density;
  if (layer.split) {
    return static_cast<std::int64_t>(4944 + 11000 * std::max(0.0, density - 0.3));
  }
  const double bytes = density <= 0.3 ? 4864 : density <= 0.4 ? 4864 + 2560 * (density - 0.3) : 5120 + 11520 * (density - 0.4);
  return static_cast<std::int64_t>(bytes);
}

std::int64_t stage_bytes(const StreamSchedule& schedule, std::int64_t unit) {
  return schedule.warps * (schedule.panels * unit + StreamSchedule::window_bytes * schedule.columns);
}

/// Of the stages, and of the sums that the warps of a panel add up in the end.
std::uint64_t shared_bytes(const StreamSchedule& schedule, std::int64_t unit) {
  constexpr std::int64_t sum = 4;
  const std::int64_t sums = sum * (schedule.warps - 1) * schedule.panels * StreamSchedule::panel_height * schedule.columns;
  return static_cast<std::uint64_t>(schedule.stages * stage_bytes(schedule, unit) + sums);
}

/// Stages that a schedule shall have at least: where a block has one panel, its warps keep enough on their way in two;
/// and so do they where what they multiply takes longer than what they copy.
int least_stages(const StreamSchedule& schedule, const CutLayer& layer) {
  return schedule.panels == 1 || layer.split ? 2 : 3;
}

/// About eight warps for a block, in float32 at least, as far as there are windows for them and shared memory for its
/// stages; no more than it takes to go through the windows in as many turns.
int warps_for(StreamSchedule schedule, const CutLayer& layer, const KernelTarget& target) {
  constexpr int block_warps = 8;
  const auto balanced = [&](std::int64_t warps) { return static_cast<int>(quotient_up(layer.windows, quotient_up(layer.windows, warps))); };
  const int about = layer.split ? schedule.panels - 1 : schedule.panels / 2;
  const int wanted = std::max(1, (block_warps + about) / schedule.panels);
  schedule.stages = least_stages(schedule, layer);
  schedule.warps = balanced(std::min<std::int64_t>(wanted, layer.windows));
  while (schedule.warps > 1 && shared_bytes(schedule, unit_bytes(layer)) > target.shared_bytes) {
    schedule.warps = balanced(schedule.warps - 1);
  }
  return schedule.warps;
}

/// As many stages as keep enough bytes on their way, as far as there are turns and shared memory for them. In float32
/// more than two gained nothing.
int stages_for(StreamSchedule schedule, const CutLayer& layer, const KernelTarget& target) {
  if (layer.split) {
    return 2;
  }
  constexpr std::int64_t in_flight = 100 * 1024;
  const std::int64_t unit = unit_bytes(layer);
  const std::int64_t useful = std::min(1 + quotient_up(in_flight, stage_bytes(schedule, unit)), 1 + quotient_up(layer.windows, schedule.warps));
  schedule.stages = static_cast<int>(std::clamp<std::int64_t>(useful, 2, StreamSchedule::max_stages));
  while (schedule.stages > 2 && shared_bytes(schedule, unit) > target.shared_bytes) {
    --schedule.stages;
  }
  return schedule.stages;
}

/// What hides the latency of the steps of float32: warps of a multiprocessor, those of all blocks that are there at a
/// time.
double missing_warps(const StreamSchedule& schedule, const CutLayer& layer, const KernelTarget& target,
                     std::int64_t blocks) {
  constexpr double enough_warps = 8;
  const std::int64_t resident = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(target.shared_bytes / shared_bytes(schedule, unit_bytes(layer))));
  const auto warps = static_cast<double>(schedule.panels * schedule.warps *
                                         std::min(resident, quotient_up(blocks, target.multiprocessors)));
  return std::max(0.0, enough_warps / warps - 1);
}

/// The time of the multiprocessor with the most to do, where a panel's weights count 1. A column of C costs its
/// products, and the copy of its rows of B, which the panels of a block share: fitted to 8 to 32 columns of 2048 x 2048
/// and of 8192 x 8192, in float32 to 32 and 128 columns of 1024 x 1024 to 11,008 x 4096.
double expected_time(const StreamSchedule& schedule, const CutLayer& layer, const KernelTarget& target) {
  const std::int64_t blocks = quotient_up(layer.panels, schedule.panels) * quotient_up(layer.bcol, schedule.columns);
  const auto busiest = static_cast<double>(schedule.panels * quotient_up(blocks, target.multiprocessors));
  if (layer.split) {
    return busiest * (1 + schedule.columns / 5.0 + schedule.columns / 12.0 / schedule.panels) *
           (1 + 0.0075 * schedule.columns * missing_warps(schedule, layer, target, blocks));
  }
  return busiest * (1 + schedule.columns / 80.0 + schedule.columns / 25.0 / schedule.panels);
}

/// Blocks of several panels leave few multiprocessors without one, and have several turns on their way.
bool is_sensible(const StreamSchedule& schedule, const CutLayer& layer, const KernelTarget& target) {
  const std::int64_t blocks = quotient_up(layer.panels, schedule.panels) * quotient_up(layer.bcol, schedule.columns);
  const std::int64_t turns = quotient_up(layer.windows, schedule.warps);
  return schedule.panels == 1 || (4 * blocks >= 3 * target.multiprocessors &&
                                  schedule.stages >= std::min<std::int64_t>(least_stages(schedule, layer), 1 + turns));
}

StreamSchedule best_for(const CutLayer& layer, const KernelTarget& target) {
  const auto widest = static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(std::clamp<long long>(layer.bcol, 8, StreamSchedule::max_columns))));
  StreamSchedule best;
  double least = std::numeric_limits<double>::infinity();
  for (int columns = 8; columns <= widest; columns *= 2) {
    for (int panels = 1; panels <= StreamSchedule::max_panels; ++panels) {
      StreamSchedule schedule{.columns = columns, .panels = panels};
      schedule.warps = warps_for(schedule, layer, target);
      schedule.stages = stages_for(schedule, layer, target);
      const double time = expected_time(schedule, layer, target);
      if (time < least && is_sensible(schedule, layer, target) &&
          shared_bytes(schedule, unit_bytes(layer)) <= target.shared_bytes) {
        best = schedule;
        least = time;
      }
    }
  }
  return best;
}

}  // namespace

std::vector<ScheduleChoice> streamed_schedules(const LayerShape& shape, const KernelTarget& target) {
  const CutLayer layer(shape);
  const bool measured = !layer.split || shape.layout == "kn";
  if (!can_stream(shape.dtype, shape.layout) || !measured ||
      target.oldest_architecture < StreamSchedule::least_architecture || follows_power_law(shape) ||
      !(layer.split ? pays_in_float32(layer) : pays_in_16_bits(layer))) {
    return {};
  }
  StreamSchedule best = best_for(layer, target);
  if (layer.split && target.oldest_architecture >= StreamSchedule::bulk_architecture) {
    best.copies = StreamSchedule::Copies::bulk;
  }
  StreamSchedule shorter = best;
  shorter.stages = 2;
  StreamSchedule narrower = shorter;
  narrower.columns = 8;
  narrower.warps = 1;
  StreamSchedule smallest = narrower;
  smallest.panels = 1;
  const std::string source =
      layer.split ? "by rule: layers of this size and share of zeros are streamed; measured on one NVIDIA H200"
                  : fmt::format("by rule: layers of this size and share of zeros are streamed; not measured for {}",
                                shape.dtype);
  std::vector<ScheduleChoice> choices;
  for (const StreamSchedule& schedule : {best, shorter, narrower, smallest}) {
    if (choices.empty() || choices.back().schedule != Schedule(schedule)) {
      choices.push_back({schedule, source});
    }
  }
  return choices;
}

}  // namespace esc
