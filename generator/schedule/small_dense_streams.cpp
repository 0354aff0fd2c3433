// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/small_dense_streams.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "generator/schedule/cost_model.h"
#include "generator/schedule/quotient_up.h"
#include "generator/schedule/schedule.h"
#include "generator/schedule/streamed_size.h"

namespace esc {
namespace {

using Copies = StreamSchedule::Copies;
using Dense = StreamSchedule::Dense;

/// Those of float32 that were measured on small layers: dense steps of warps by themselves, of blocks of 32 and 64 rows
/// with 16 and 32 columns, and placed values with 64 and 128 columns.
const std::vector<StreamSchedule>& split_streams() {
  static const std::vector<StreamSchedule> streams = [] {
    std::vector<StreamSchedule> all;
    for (const char* const text :
         {"stream:columns=32,panels=2,warps=4,stages=2,share=4,dense=on",
          "stream:columns=32,panels=2,warps=4,stages=2,share=4,copies=bulk,dense=on",
          "stream:columns=32,panels=2,warps=4,stages=2,share=4,rows=32,copies=bulk,dense=on",
          "stream:columns=32,panels=1,warps=4,stages=3,share=4,rows=32,copies=bulk,dense=on",
          "stream:columns=16,panels=1,warps=4,stages=3,share=4,rows=32,copies=bulk,dense=on",
          "stream:columns=16,panels=1,warps=4,stages=3,share=4,rows=32,dense=listed",
          "stream:columns=32,panels=1,warps=8,stages=2,share=4,rows=32,copies=bulk,cluster=2,dense=on",
          "stream:columns=32,panels=2,warps=4,stages=2,share=4,rows=32,copies=bulk,cluster=2,dense=on",
          "stream:columns=32,panels=2,warps=4,stages=2,share=4,rows=32,copies=bulk,cluster=4,dense=on",
          "stream:columns=64,panels=1,warps=16,stages=2,share=4,rows=32,copies=bulk,cluster=2,dense=placed",
          "stream:columns=64,panels=1,warps=16,stages=3,share=4,rows=32,copies=bulk,cluster=2,dense=placed",
          "stream:columns=64,panels=1,warps=16,stages=3,share=4,rows=32,copies=bulk,dense=placed",
          "stream:columns=64,panels=1,warps=16,stages=2,share=4,rows=32,copies=bulk,dense=placed",
          "stream:columns=64,panels=1,warps=16,stages=3,share=4,rows=48,copies=bulk,cluster=2,dense=placed",
          "stream:columns=64,panels=1,warps=16,stages=2,share=4,rows=64,copies=bulk,dense=placed",
          "stream:columns=64,panels=1,warps=16,stages=3,share=4,rows=64,copies=bulk,dense=placed",
          "stream:columns=64,panels=1,warps=16,stages=2,share=4,rows=64,copies=bulk,cluster=2,dense=placed",
          "stream:columns=64,panels=1,warps=16,stages=3,share=4,rows=64,copies=bulk,cluster=2,dense=placed",
          "stream:columns=64,panels=1,warps=16,stages=2,share=4,rows=80,copies=bulk,cluster=4,dense=placed",
          "stream:columns=128,panels=1,warps=16,stages=3,share=8,rows=64,copies=bulk,cluster=2,dense=placed",
          "stream:columns=128,panels=1,warps=16,stages=3,share=8,rows=96,copies=bulk,cluster=2,dense=placed"}) {
      all.push_back(std::get<StreamSchedule>(parse_schedule(text)));
    }
    return all;
  }();
  return streams;
}

/// Microseconds of a launch of its own in TF32 on one NVIDIA H100, of which the model knows less, fitted to layers
/// of 128 x 512 to 4096 x 1024 with 50 to 90 % zeros and 64, 128 and 256 columns: what a launch and each window of a
/// block take, of 128 columns of A here, and for each block of the busiest multiprocessor the block itself, each of its
/// windows, and these by the share of non-zeros.
struct Times {
  double launch = 0;
  double window = 0;
  double block = 0;
  double block_window = 0;
  double block_values = 0;
};

struct TimedStream {
  StreamSchedule schedule;
  Times times;
};

constexpr TimedStream rounded_streams[] = {
    {{.columns = 32,
      .panels = 2,
      .warps = 4,
      .stages = 2,
      .share = 4,
      .rows = 32,
      .copies = Copies::bulk,
      .dense = Dense::listed},
     {1.002, 0.257, 1.173, 0.399, 0.184}},
    {{.columns = 32, .panels = 1, .warps = 8, .stages = 2, .share = 4, .rows = 32, .dense = Dense::listed},
     {0.93, 0.104, 0.543, 0.59, 0.172}},
    {{.columns = 32,
      .panels = 1,
      .warps = 8,
      .stages = 2,
      .share = 4,
      .rows = 32,
      .copies = Copies::bulk,
      .dense = Dense::listed},
     {0.416, 0, 2.541, 0.443, 0}},
    {{.columns = 32, .panels = 2, .warps = 4, .stages = 2, .share = 4, .dense = Dense::listed},
     {1.041, 0.314, 0.377, 0.388, 0.131}},
    {{.columns = 32, .panels = 2, .warps = 4, .stages = 2, .share = 4, .dense = Dense::on},
     {1.347, 0.257, 0.335, 0.404, 0}},
    {{.columns = 16,
      .panels = 1,
      .warps = 4,
      .stages = 3,
      .share = 4,
      .rows = 32,
      .copies = Copies::bulk,
      .dense = Dense::on},
     {1.58, 0, 0.554, 0.441, 0}},
    {{.columns = 16, .panels = 1, .warps = 4, .stages = 3, .share = 4, .rows = 32, .dense = Dense::listed},
     {0.759, 0.572, 0.227, 0.19, 0.186}},
    {{.columns = 32,
      .panels = 1,
      .warps = 4,
      .stages = 3,
      .share = 4,
      .rows = 32,
      .copies = Copies::bulk,
      .cluster = 2,
      .dense = Dense::on},
     {0.842, 0, 2.636, 0.509, 0}},
    {{.columns = 32,
      .panels = 2,
      .warps = 2,
      .stages = 3,
      .share = 2,
      .rows = 32,
      .copies = Copies::bulk,
      .cluster = 2,
      .dense = Dense::on},
     {0, 0, 3.566, 0.684, 0.026}},
    {{.columns = 64,
      .panels = 2,
      .warps = 2,
      .stages = 3,
      .share = 2,
      .rows = 32,
      .copies = Copies::bulk,
      .dense = Dense::on},
     {1.5, 0, 1.661, 0.883, 0.043}},
    {{.columns = 32,
      .panels = 2,
      .warps = 4,
      .stages = 2,
      .share = 2,
      .rows = 32,
      .copies = Copies::bulk,
      .cluster = 2,
      .dense = Dense::listed},
     {1.195, 0, 2.966, 0.573, 0.196}},
    {{.columns = 32,
      .panels = 2,
      .warps = 4,
      .stages = 2,
      .share = 4,
      .rows = 32,
      .copies = Copies::bulk,
      .cluster = 2,
      .dense = Dense::listed},
     {2.077, 0.243, 1.421, 0.47, 0.141}},
    {{.columns = 32,
      .panels = 2,
      .warps = 4,
      .stages = 2,
      .share = 4,
      .rows = 32,
      .copies = Copies::bulk,
      .cluster = 4,
      .dense = Dense::on},
     {3.408, 0, 0, 0.548, 0}},
    {{.columns = 32,
      .panels = 1,
      .warps = 4,
      .stages = 3,
      .share = 4,
      .rows = 32,
      .copies = Copies::bulk,
      .dense = Dense::listed},
     {1.544, 0.217, 0.53, 0.337, 0.068}},
    {{.columns = 64,
      .panels = 1,
      .warps = 16,
      .stages = 2,
      .share = 4,
      .rows = 80,
      .copies = Copies::bulk,
      .cluster = 4,
      .dense = Dense::placed},
     {5.167, 1.101, 0, 0, 0.018}},
    {{.columns = 64,
      .panels = 1,
      .warps = 16,
      .stages = 2,
      .share = 4,
      .rows = 32,
      .copies = Copies::bulk,
      .dense = Dense::placed},
     {0.473, 0.141, 1.608, 0.617, 0.419}},
    {{.columns = 64,
      .panels = 1,
      .warps = 16,
      .stages = 2,
      .share = 4,
      .rows = 32,
      .copies = Copies::bulk,
      .cluster = 2,
      .dense = Dense::placed},
     {0.658, 0, 2.942, 0.785, 0.31}},
    {{.columns = 64,
      .panels = 1,
      .warps = 16,
      .stages = 3,
      .share = 4,
      .rows = 32,
      .copies = Copies::bulk,
      .dense = Dense::placed},
     {0, 0, 2.558, 0.695, 0.073}},
    {{.columns = 64,
      .panels = 1,
      .warps = 16,
      .stages = 3,
      .share = 4,
      .rows = 32,
      .copies = Copies::bulk,
      .cluster = 2,
      .dense = Dense::placed},
     {0.291, 0, 3.478, 0.731, 0.122}},
    {{.columns = 64,
      .panels = 1,
      .warps = 16,
      .stages = 2,
      .share = 4,
      .rows = 48,
      .copies = Copies::bulk,
      .cluster = 2,
      .dense = Dense::placed},
     {0.375, 0.086, 3.363, 0.763, 0.468}},
    {{.columns = 64,
      .panels = 1,
      .warps = 16,
      .stages = 3,
      .share = 4,
      .rows = 48,
      .copies = Copies::bulk,
      .cluster = 2,
      .dense = Dense::placed},
     {0.307, 0, 3.8, 0.666, 0.466}},
    {{.columns = 64,
      .panels = 1,
      .warps = 16,
      .stages = 2,
      .share = 4,
      .rows = 64,
      .copies = Copies::bulk,
      .dense = Dense::placed},
     {0, 0.192, 2.627, 0.817, 0}},
    {{.columns = 64,
      .panels = 1,
      .warps = 16,
      .stages = 3,
      .share = 4,
      .rows = 64,
      .copies = Copies::bulk,
      .dense = Dense::placed},
     {0, 0.036, 2.98, 0.626, 0.587}},
    {{.columns = 64,
      .panels = 1,
      .warps = 16,
      .stages = 2,
      .share = 4,
      .rows = 64,
      .copies = Copies::bulk,
      .cluster = 2,
      .dense = Dense::placed},
     {0.345, 0.02, 3.853, 0.982, 0.06}},
    {{.columns = 64,
      .panels = 1,
      .warps = 16,
      .stages = 3,
      .share = 4,
      .rows = 64,
      .copies = Copies::bulk,
      .cluster = 2,
      .dense = Dense::placed},
     {0.1, 0, 4.439, 0.703, 0.575}},
    {{.columns = 64,
      .panels = 1,
      .warps = 16,
      .stages = 2,
      .share = 4,
      .rows = 96,
      .copies = Copies::bulk,
      .dense = Dense::placed},
     {3.045, 1.125, 0, 0, 0}},
    {{.columns = 64,
      .panels = 1,
      .warps = 16,
      .stages = 3,
      .share = 4,
      .rows = 96,
      .copies = Copies::bulk,
      .dense = Dense::placed},
     {3.447, 0.771, 0, 0, 0.733}},
    {{.columns = 128,
      .panels = 1,
      .warps = 16,
      .stages = 3,
      .share = 8,
      .rows = 64,
      .copies = Copies::bulk,
      .cluster = 2,
      .dense = Dense::placed},
     {0, 0.314, 5.025, 1.311, 0}},
    {{.columns = 128,
      .panels = 1,
      .warps = 16,
      .stages = 3,
      .share = 8,
      .rows = 96,
      .copies = Copies::bulk,
      .cluster = 2,
      .dense = Dense::placed},
     {5.99, 1.724, 0, 0, 0.312}},
    {{.columns = 128,
      .panels = 1,
      .warps = 16,
      .stages = 3,
      .share = 8,
      .rows = 32,
      .copies = Copies::bulk,
      .dense = Dense::placed},
     {0, 0.193, 2.193, 1.197, 0.423}}};

double expected_time(const TimedStream& one, const LayerShape& shape, const KernelTarget& target) {
  const StreamSchedule& schedule = one.schedule;
  const int window_columns = schedule.columns_of_window(sizeof(float));
  const std::int64_t taken_at_once = std::int64_t{schedule.turn_windows()} * schedule.cluster;
  const std::int64_t turns = quotient_up(quotient_up(shape.columns, window_columns), taken_at_once);
  const double windows = static_cast<double>(turns * schedule.turn_windows() * window_columns) /
                         StreamSchedule::window_columns(sizeof(float));
  const auto busiest = static_cast<double>(quotient_up(blocks_of(schedule, shape), target.multiprocessors));
  const Times& times = one.times;
  return times.launch + times.window * windows +
         busiest * (times.block + windows * (times.block_window + times.block_values * shape.density()));
}

/// Of the best schedule of family panel, in microseconds. Where every third element is not zero all columns are read
/// already.
double expected_time_of_panel(const LayerShape& shape) {
  constexpr double most_density = 0.3;
  constexpr double launch = 1.96;
  constexpr double of_product = 0.22e-6;
  return launch +
         of_product * shape.elements() * std::min(shape.density(), most_density) * static_cast<double>(shape.bcol);
}

/// Between layers that were measured.
bool is_like_measured(const LayerShape& shape) {
  constexpr std::int64_t smallest_side = 256;
  constexpr long long least_bcol = 64;
  constexpr double most_elements = 2048.0 * 2048;
  return (shape.dtype == "f32" || shape.dtype == "tf32") && shape.layout == "kn" &&
         std::min(shape.rows, shape.columns) >= smallest_side && shape.bcol >= least_bcol &&
         shape.elements() <= most_elements && !follows_power_law(shape);
}

/// All elements of a window in their places are more than twice the bytes of CSR where few of them are not zero; and
/// steps of the sparse tensor core are so few then that three products of each are as fast, unless the tensor core
/// makes them for four warps, of a layer with many windows.
bool has_enough_nonzeros(const StreamSchedule& schedule, const LayerShape& shape) {
  constexpr double least_density = 0.25;
  constexpr double least_rounded_density = 0.15;
  constexpr double some_elements = 1024.0 * 2048;
  if (shape.dtype == "tf32") {
    return schedule.dense != Dense::on || shape.density() >= least_rounded_density;
  }
  return shape.density() >= least_density || (schedule.is_placed() && shape.elements() >= some_elements);
}

/// Of TF32 with many columns and windows of A streams of the sparse tensor core were faster than dense steps, but for
/// placed values.
bool is_expected(const StreamSchedule& schedule, const LayerShape& shape) {
  constexpr std::int64_t many_columns_of_A = 3072;
  constexpr long long many_columns = 256;
  return schedule.is_placed() || shape.dtype == "f32" || shape.columns < many_columns_of_A || shape.bcol < many_columns;
}

bool suits(const StreamSchedule& schedule, const LayerShape& shape, const KernelTarget& target) {
  return is_expected(schedule, shape) && has_enough_nonzeros(schedule, shape) && fits_clusters(schedule, shape) &&
         suits_dense_steps(schedule, shape, target);
}

/// The schedules that are tried, with what they are expected to take.
std::vector<std::pair<double, StreamSchedule>> timed_streams(const LayerShape& shape, const KernelTarget& target) {
  std::vector<std::pair<double, StreamSchedule>> timed;
  if (shape.dtype == "tf32") {
    for (const TimedStream& one : rounded_streams) {
      timed.emplace_back(expected_time(one, shape, target), one.schedule);
    }
    return timed;
  }
  const DeviceKey device{target.oldest_architecture, target.multiprocessors, 0};
  for (const StreamSchedule& schedule : split_streams()) {
    timed.emplace_back(predicted_cost(schedule, shape, device).microseconds, schedule);
  }
  return timed;
}

}  // namespace

std::vector<StreamSchedule> small_dense_streams(const LayerShape& shape, const KernelTarget& target) {
  if (!is_like_measured(shape) || target.oldest_architecture < StreamSchedule::cluster_architecture) {
    return {};
  }
  constexpr double worthwhile = 0.97;
  const double bound = worthwhile * expected_time_of_panel(shape);
  std::vector<std::pair<double, StreamSchedule>> timed = timed_streams(shape, target);
  std::erase_if(timed, [&](const auto& one) { return one.first > bound || !suits(one.second, shape, target); });
  return fastest_first(std::move(timed));
}

}  // namespace esc
