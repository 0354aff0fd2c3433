// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/streamed_schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "generator/schedule/element_types.h"

namespace esc {
namespace {

std::int64_t quotient_up(std::int64_t value, std::int64_t divisor) { return (value + divisor - 1) / divisor; }

/// What streaming elements of a type asks of a schedule, and what it costs: fitted to 8 to 32 columns of 2048 x 2048
/// and of 8192 x 8192 in 16 bits, in float32 to 32 and 128 columns of 1024 x 1024 to 11,008 x 4096.
struct Streaming {
  /// About what a unit of a random pattern takes: 8 steps from 70 % zeros on, with an extra now and then; more of both
  /// where there are fewer zeros.
  double (*unit_bytes)(double density);
  bool rounds_warps_up;        ///< a block has eight warps at least, not about
  int least_stages_of_panels;  ///< where a block has several
  int most_stages;
  double column;         ///< of C, its products with a panel, where the panel's weights cost 1
  double copied_column;  ///< the same for the copy of its rows of B, which the panels of a block share
  double
      missing_warps;  ///< more for a column of a block, where a multiprocessor has half of the warps that hide latency
};

constexpr Streaming of_16_bits{.unit_bytes =
                                   [](double density) {
                                     return density <= 0.3   ? 4864
                                            : density <= 0.4 ? 4864 + 2560 * (density - 0.3)
                                                             : 5120 + 11520 * (density - 0.4);
                                   },
                               .rounds_warps_up = false,
                               .least_stages_of_panels = 3,
                               .most_stages = StreamSchedule::max_stages,
                               .column = 1.0 / 80,
                               .copied_column = 1.0 / 25,
                               .missing_warps = 0};

/// Three products take longer than what is copied for them: more than two stages gain nothing, and warps are missed.
constexpr Streaming of_float32{.unit_bytes = [](double density) { return 4944 + 11000 * std::max(0.0, density - 0.3); },
                               .rounds_warps_up = true,
                               .least_stages_of_panels = 2,
                               .most_stages = 2,
                               .column = 1.0 / 5,
                               .copied_column = 1.0 / 12,
                               .missing_warps = 0.0075};

/// Where B lies otherwise, fitted to the convolutions of docs/nests.md: its elements are copied one by one, and the cost of that does not depend on how many
/// panels share it as much as products do.
constexpr Streaming of_placed_float32{.unit_bytes = of_float32.unit_bytes,
                                      .rounds_warps_up = true,
                                      .least_stages_of_panels = 2,
                                      .most_stages = 2,
                                      .column = 1.0 / 24,
                                      .copied_column = 1.0 / 50,
                                      .missing_warps = 0.0098};

/// One product in place of three, for which nothing is split. Not measured.
constexpr Streaming rounded(Streaming one) {
  one.column *= 0.4;
  return one;
}
constexpr Streaming of_tf32 = rounded(of_float32);
constexpr Streaming of_placed_tf32 = rounded(of_placed_float32);

const Streaming& streaming_of(const LayerShape& shape) {
  if (is_half_type(shape.dtype)) {
    return of_16_bits;
  }
  const bool placed = shape.layout != "kn";
  return shape.dtype == "tf32" ? (placed ? of_placed_tf32 : of_tf32) : placed ? of_placed_float32 : of_float32;
}

/// The layer as the family cuts it: panels of 16 rows, windows of 256 columns or, in float32, 128, with what fills the
/// last of each up.
struct CutLayer {
  explicit CutLayer(const LayerShape& shape)
      : streaming(streaming_of(shape)),
        dtype(shape.dtype),
        layout(shape.layout),
        bcol(shape.bcol),
        panels(quotient_up(shape.rows, StreamSchedule::panel_height)),
        window_columns(StreamSchedule::window_columns(bytes_of_type(shape.dtype))),
        windows(quotient_up(shape.columns, window_columns)),
        nonzeros(static_cast<double>(shape.nonzeros)),
        unit_bytes(static_cast<std::int64_t>(
            streaming.unit_bytes(nonzeros / (static_cast<double>(shape.rows) * static_cast<double>(shape.columns))))) {}

  double elements() const {
    return static_cast<double>(panels) * static_cast<double>(windows) * StreamSchedule::panel_height * window_columns;
  }

  std::int64_t window_bytes(const StreamSchedule& schedule) const { return staged_window_bytes(schedule, dtype, layout); }

  Streaming streaming;
  std::string dtype;
  std::string layout;
  long long bcol;
  std::int64_t panels;
  int window_columns;
  std::int64_t windows;
  double nonzeros;
  std::int64_t unit_bytes;
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
/// were not measured, nor was TF32, which pays at least there.
bool pays_in_float32(const CutLayer& layer) {
  constexpr double middle = 2048.0 * 2048;
  constexpr double large = 4096.0 * 4096;
  constexpr int least_windows = 16;
  const double least_density = layer.elements() < large ? 0.27 : 0.19;
  return layer.windows >= least_windows && layer.elements() >= middle &&
         layer.bcol >= (layer.elements() < large / 2 ? 128 : 32) && layer.nonzeros >= least_density * layer.elements();
}

/// The same of images whose channels lie apart, of batches too. Panels load what filters of taps read of a channel for each tap again, and where columns are steps
/// apart for each column; else it takes enough windows for the copies to pay. Measured with 1, 8 and 32 images, 196 to 100,352 columns of C.
bool pays_of_images(const CutLayer& layer) {
  constexpr long long least_columns = 196;
  constexpr long long many_columns = 6272;
  const double density = layer.nonzeros / layer.elements();
  const bool many = layer.bcol >= many_columns;
  if (layer.bcol < least_columns) {
    return false;
  }
  if (has_taps(layer.layout)) {
    return layer.windows >= 5 && density >= (many ? 0.08 : 0.17);
  }
  const bool steps = layer.layout.find("2n") != layer.layout.npos;
  return steps ? layer.windows >= 2 && density >= 0.045 : layer.windows >= 8 && density >= 0.17 && (many || density <= 0.4);
}

/// Whether it is of 32 bits and channels stand apart from the columns of C: images by channels, and batches of matrices in rows.
bool is_of_images(const LayerShape& shape) { return !is_half_type(shape.dtype) && shape.layout.starts_with("n_k_"); }

bool pays(const LayerShape& shape, const CutLayer& layer) {
  if (is_half_type(shape.dtype)) {
    return pays_in_16_bits(layer);
  }
  return is_of_images(shape) ? pays_of_images(layer) : shape.layout == "kn" && pays_in_float32(layer);
}

std::int64_t stage_bytes(const StreamSchedule& schedule, const CutLayer& layer) {
  return schedule.warps * (schedule.panels * layer.unit_bytes + layer.window_bytes(schedule));
}

/// Of the stages, and of the sums that the warps of a panel add up in the end.
std::uint64_t shared_bytes(const StreamSchedule& schedule, const CutLayer& layer) {
  constexpr std::int64_t sum = 4;
  const std::int64_t sums = sum * (schedule.warps - 1) * schedule.panels * StreamSchedule::panel_height * schedule.columns;
  return static_cast<std::uint64_t>(schedule.stages * stage_bytes(schedule, layer) + sums);
}

/// Stages that a schedule shall have at least: where a block has one panel, its warps keep enough on their way in two.
int least_stages(const StreamSchedule& schedule, const CutLayer& layer) {
  return schedule.panels == 1 ? 2 : layer.streaming.least_stages_of_panels;
}

/// Eight warps for a block, as far as there are windows for them and shared memory for its
/// stages; no more than it takes to go through the windows in as many turns.
int warps_for(StreamSchedule schedule, const CutLayer& layer, const KernelTarget& target) {
  constexpr int block_warps = 8;
  const auto balanced = [&](std::int64_t warps) { return static_cast<int>(quotient_up(layer.windows, quotient_up(layer.windows, warps))); };
  const int rounding = layer.streaming.rounds_warps_up ? schedule.panels - 1 : schedule.panels / 2;
  const int wanted = std::max(1, (block_warps + rounding) / schedule.panels);
  schedule.stages = least_stages(schedule, layer);
  schedule.warps = balanced(std::min<std::int64_t>(wanted, layer.windows));
  while (schedule.warps > 1 && shared_bytes(schedule, layer) > target.shared_bytes) {
    schedule.warps = balanced(schedule.warps - 1);
  }
  return schedule.warps;
}

/// As many stages as keep enough bytes on their way, as far as there are turns and shared memory for them.
int stages_for(StreamSchedule schedule, const CutLayer& layer, const KernelTarget& target) {
  constexpr std::int64_t in_flight = 100 * 1024;
  const std::int64_t useful = std::min(1 + quotient_up(in_flight, stage_bytes(schedule, layer)), 1 + quotient_up(layer.windows, schedule.warps));
  schedule.stages = static_cast<int>(std::clamp<std::int64_t>(useful, 2, layer.streaming.most_stages));
  while (schedule.stages > 2 && shared_bytes(schedule, layer) > target.shared_bytes) {
    --schedule.stages;
  }
  return schedule.stages;
}

std::int64_t blocks_of(const StreamSchedule& schedule, const CutLayer& layer) {
  return quotient_up(layer.panels, schedule.panels) * quotient_up(layer.bcol, schedule.columns);
}

/// Of the warps that hide the latency of a step: 0 where a multiprocessor has them at a time, 1 where it has half of
/// them.
double missing_warps(const StreamSchedule& schedule, const CutLayer& layer, const KernelTarget& target) {
  constexpr double enough_warps = 8;
  const auto fitting = static_cast<std::int64_t>(target.shared_bytes / shared_bytes(schedule, layer));
  const std::int64_t resident =
      std::clamp<std::int64_t>(fitting, 1, quotient_up(blocks_of(schedule, layer), target.multiprocessors));
  return std::max(0.0, enough_warps / static_cast<double>(schedule.panels * schedule.warps * resident) - 1);
}

/// The time of the multiprocessor with the most to do, where a panel's weights count 1.
double expected_time(const StreamSchedule& schedule, const CutLayer& layer, const KernelTarget& target) {
  const Streaming& costs = layer.streaming;
  const auto busiest =
      static_cast<double>(schedule.panels * quotient_up(blocks_of(schedule, layer), target.multiprocessors));
  return busiest * (1 + schedule.columns * costs.column + schedule.columns * costs.copied_column / schedule.panels) *
         (1 + schedule.columns * costs.missing_warps * missing_warps(schedule, layer, target));
}

/// Blocks of several panels leave few multiprocessors without one, and have several turns on their way.
bool is_sensible(const StreamSchedule& schedule, const CutLayer& layer, const KernelTarget& target) {
  const std::int64_t blocks = blocks_of(schedule, layer);
  const std::int64_t turns = quotient_up(layer.windows, schedule.warps);
  return schedule.panels == 1 || (4 * blocks >= 3 * target.multiprocessors &&
                                  schedule.stages >= std::min<std::int64_t>(least_stages(schedule, layer), 1 + turns));
}

int widest_columns(const CutLayer& layer) {
  return static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(std::clamp<long long>(layer.bcol, 8, StreamSchedule::max_columns))));
}

/// Of the schedules that were measured for images the one that is expected to take least; none where no shared memory has room for one.
std::optional<StreamSchedule> best_measured(const CutLayer& layer, const KernelTarget& target) {
  static constexpr std::array measured{
      StreamSchedule{.columns = 16, .panels = 2, .warps = 4, .stages = 2}, StreamSchedule{.columns = 32, .panels = 2, .warps = 4, .stages = 2},
      StreamSchedule{.columns = 32, .panels = 4, .warps = 2, .stages = 2}, StreamSchedule{.columns = 32, .panels = 4, .warps = 4, .stages = 2},
      StreamSchedule{.columns = 32, .panels = 8, .warps = 2, .stages = 2}, StreamSchedule{.columns = 64, .panels = 4, .warps = 2, .stages = 2},
      StreamSchedule{.columns = 64, .panels = 4, .warps = 1, .stages = 3}, StreamSchedule{.columns = 64, .panels = 8, .warps = 1, .stages = 2},
      StreamSchedule{.columns = 64, .panels = 8, .warps = 2, .stages = 2}};
  std::optional<StreamSchedule> best;
  double least = std::numeric_limits<double>::infinity();
  for (const StreamSchedule& schedule : measured) {
    // In the last turn warps may have no window.
    const double of_all_warps = static_cast<double>(quotient_up(layer.windows, schedule.warps) * schedule.warps) / static_cast<double>(layer.windows);
    const double time = expected_time(schedule, layer, target) * of_all_warps;
    if (time < least && schedule.columns <= widest_columns(layer) && shared_bytes(schedule, layer) <= target.shared_bytes) {
      best = schedule;
      least = time;
    }
  }
  return best;
}

StreamSchedule best_for(const CutLayer& layer, const KernelTarget& target) {
  StreamSchedule best;
  double least = std::numeric_limits<double>::infinity();
  for (int columns = 8; columns <= widest_columns(layer); columns *= 2) {
    for (int panels = 1; panels <= StreamSchedule::max_panels; ++panels) {
      StreamSchedule schedule{.columns = columns, .panels = panels};
      schedule.warps = warps_for(schedule, layer, target);
      schedule.stages = stages_for(schedule, layer, target);
      const double time = expected_time(schedule, layer, target);
      if (time < least && is_sensible(schedule, layer, target) &&
          shared_bytes(schedule, layer) <= target.shared_bytes) {
        best = schedule;
        least = time;
      }
    }
  }
  return best;
}

}  // namespace

std::vector<ScheduleChoice> streamed_schedules(const LayerShape& shape, const KernelTarget& target) {
  if (!can_stream(shape.dtype, shape.layout) || target.oldest_architecture < StreamSchedule::least_architecture ||
      follows_power_law(shape)) {
    return {};
  }
  const CutLayer layer(shape);
  const bool single = !is_half_type(shape.dtype);
  if (!pays(shape, layer)) {
    return {};
  }
  const std::optional<StreamSchedule> measured = is_of_images(shape) ? best_measured(layer, target) : std::nullopt;
  StreamSchedule best = measured ? *measured : best_for(layer, target);
  if (single && target.oldest_architecture >= StreamSchedule::bulk_architecture) {
    best.copies = StreamSchedule::Copies::bulk;
  }
  StreamSchedule shorter = best;
  shorter.stages = 2;
  StreamSchedule narrower = shorter;
  narrower.columns = 8;
  narrower.warps = 1;
  StreamSchedule smallest = narrower;
  smallest.panels = 1;
  const std::string source = "by rule: layers of this size and share of zeros are streamed; " +
                             (shape.dtype == "f32" ? "measured on one NVIDIA H200" : "not measured for " + shape.dtype);
  std::vector<ScheduleChoice> choices;
  for (const StreamSchedule& schedule : {best, shorter, narrower, smallest}) {
    if (choices.empty() || choices.back().schedule != Schedule(schedule)) {
      choices.push_back({schedule, source});
    }
  }
  return choices;
}

double streamed_bytes(const LayerShape& shape) {
  const CutLayer layer(shape);
  return static_cast<double>(layer.panels) * static_cast<double>(layer.windows) * static_cast<double>(layer.unit_bytes);
}

}  // namespace esc
