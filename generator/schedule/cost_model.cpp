// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/cost_model.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <type_traits>

#include "generator/schedule/bitmap_cost.h"
#include "generator/schedule/cost_work.h"
#include "generator/schedule/element_types.h"
#include "generator/schedule/gather_cost.h"
#include "generator/schedule/kernel_estimate.h"
#include "generator/schedule/occupancy.h"
#include "generator/schedule/stream_cost.h"

namespace esc {
namespace {

// Microseconds, fitted at once to 37,835 kernels of family panel of one H200 and one H100.
constexpr double launch_and_store = 1.3;  ///< 0.93 measured, and the first wait
constexpr double of_block = 0.0005;       ///< of the grid
constexpr double of_wait = 0.154;         ///< an iteration that loads; 0.15 to 0.2 measured for one load
constexpr double of_apart = 3.05;         ///< times as long where columns of B are not one after the other
constexpr double of_line = 0.00093;       ///< from L2
constexpr double of_wavefront = 0.0001;   ///< of the load/store unit
constexpr double of_cycle = 0.00082;      ///< four instructions
constexpr double of_staging = 0.088;
constexpr double of_adding_warps = 0.0014;  ///< barrier and sums in shared memory, while no other block takes its place
constexpr double of_further_block = 0.0004;  ///< on the same multiprocessor
constexpr double of_block_warp = 0.0144;
constexpr double of_extra_pass = 0.95;  ///< measured: a launch that sets C to zero

/// How many times as long loads and cycles take as in float32.
struct TypeFactors {
  double loads = 1;
  double cycle = 1;
};

/// Elements of 16 bits are converted one by one.
TypeFactors factors_of(std::string_view dtype) { return is_half_type(dtype) ? TypeFactors{1.13, 1.62} : TypeFactors{}; }

/// How times add that overlap in part: 1 would be their sum, infinity the longest of them.
constexpr double overlap_of_pipes = 2;
constexpr double overlap_of_waiting = 1.3;

constexpr double l1_bytes = 256 * 1024;  ///< L1 cache and shared memory of a multiprocessor
constexpr double least_l1_bytes = 16 * 1024;
constexpr double line_bytes = 128;

double together(std::initializer_list<double> times, double overlap) {
  double sum = 0;
  for (const double time : times) {
    sum += std::pow(time, overlap);
  }
  return std::pow(sum, 1 / overlap);
}

/// Lines of B that a multiprocessor gets from L2: each one once, as far as its L1 cache keeps it until it is asked for
/// again.
double lines_missed(double requests, double distinct, double cache_bytes) {
  if (requests <= 0 || distinct <= 0) {
    return 0;
  }
  const double touched = distinct * (1 - std::exp(-requests / distinct));
  const double kept = std::min(1.0, cache_bytes / (distinct * line_bytes));
  return touched * kept + requests * (1 - kept);
}

Cost cost_of(const Work& work, const LayerShape& shape, const DeviceKey& device, const KernelFacts& kernel) {
  const TypeFactors factors = factors_of(shape.dtype);
  const int resident = resident_blocks(kernel, sm_limits(device.capability));
  Cost cost;
  if (resident == 0) {
    cost.microseconds = std::numeric_limits<double>::infinity();
    return cost;
  }
  const double blocks = std::max<double>(1, static_cast<double>(kernel.blocks));
  const double busiest = std::ceil(blocks / std::max(1, device.multiprocessors));
  const double share = busiest / blocks;
  const double waves = std::max(1.0, busiest / resident);
  const double shared = std::min<double>(busiest, resident) * kernel.shared_bytes;
  const double distinct = work.distinct_lines * std::min(busiest, work.tiles);
  const double missed = lines_missed(work.dense_lines * share, distinct, std::max(least_l1_bytes, l1_bytes - shared));

  cost.launch = launch_and_store + of_block * blocks;
  cost.waiting = of_wait * (shape.contiguous ? 1 : of_apart) * work.chain * waves;
  cost.traffic = of_line * (work.sparse_lines * share + missed);
  cost.loads = of_wavefront * factors.loads * work.wavefronts * share;
  cost.arithmetic = of_cycle * factors.cycle * work.instructions * share / 4;
  cost.reduction = (work.staged ? of_staging : 0) + (work.adds_warps ? of_adding_warps * waves : 0) +
                   of_further_block * (busiest - 1) + of_block_warp * work.block_warps +
                   of_extra_pass * work.extra_passes;
  const double pipes = together({cost.traffic, cost.loads, cost.arithmetic}, overlap_of_pipes);
  cost.microseconds = cost.launch + together({cost.waiting, pipes}, overlap_of_waiting) + cost.reduction;
  return cost;
}

}  // namespace

ModelledDevice modelled(const DeviceKey& key, const KnownDevices& devices) {
  const Device* const device = devices.find(key);
  return {.key = key, .memory_gigabytes = device == nullptr ? std::nullopt : nominal_memory_gigabytes(*device)};
}

Cost predicted_cost(const Schedule& schedule, const LayerShape& shape, const DeviceKey& device,
                    const std::optional<KernelFacts>& kernel) {
  return predicted_cost(schedule, shape, modelled(device, shipped_devices()), kernel);
}

Cost predicted_cost(const Schedule& schedule, const LayerShape& shape, const ModelledDevice& device,
                    const std::optional<KernelFacts>& kernel) {
  const KernelFacts facts = kernel ? *kernel : estimated_kernel(schedule, shape);
  return std::visit(
      [&](const auto& one) {
        if constexpr (std::is_same_v<std::decay_t<decltype(one)>, StreamSchedule>) {
          return stream_cost(one, shape, device.key, facts);
        } else if constexpr (std::is_same_v<std::decay_t<decltype(one)>, GatherSchedule>) {
          return gather_cost(one, shape, device.key, facts);
        } else if constexpr (std::is_same_v<std::decay_t<decltype(one)>, BitmapSchedule>) {
          return bitmap_cost(one, shape, device.key, facts, device.memory_gigabytes);
        } else {
          return cost_of(work_of(one, shape), shape, device.key, facts);
        }
      },
      schedule);
}

}  // namespace esc
