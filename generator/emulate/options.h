// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "generator/emulate/open_files.h"
#include "generator/emulate/registers.h"

namespace esc {

/// A launch as a caller that chooses blocks sees it.
struct LaunchInfo {
  std::string kernel;
  Dim3 grid;
  Dim3 block;
  std::uint64_t dynamic_shared = 0;
  std::uint64_t ordinal = 0;  ///< of this launch among all of the device, from 0
  bool programmatic = false;  ///< may begin before the kernel before has ended
};

/// What cudaDeviceGetAttribute answers.
struct DeviceProperties {
  int multiprocessors = 132;
  int compute_major = 9;
  int compute_minor = 0;
};

struct EmulationOptions {
  /// Different faults until the run stops.
  unsigned max_faults = 8;
  /// Blocks, and the threads that could run next in a block, are taken in an order drawn from this; by index otherwise.
  std::optional<std::uint64_t> shuffle_seed;
  /// Loop iterations that one thread of a kernel may make; a longer loop counts as endless.
  std::int64_t steps_per_thread = std::int64_t{1} << 26;
  /// The same for one call of a host function.
  std::int64_t host_steps = std::int64_t{1} << 40;
  /// Whether host code may touch only registered memory. Off: only device memory is forbidden to it.
  bool check_host_accesses = true;
  /// Whether shuffles and votes order the memory accesses of their lanes, as __syncwarp does. CUDA does not promise it.
  bool shuffles_order_memory = true;
  /// Whether barriers and warp operations do without the threads that have returned, as the hardware does since Volta.
  /// Off: such a barrier or operation is a fault.
  bool returned_threads_may_miss_barriers = true;
  /// The blocks of a launch to run, as linear indices (x fastest); all of them where it is not set.
  std::function<std::vector<std::uint64_t>(const LaunchInfo&)> select_blocks;
  /// Told of each launch before it runs.
  std::function<void(const LaunchInfo&)> before_launch;
  /// Of the launches, fills, questions for a kernel's attributes and calls for tensor maps that host code makes, the
  /// one with this number, from 0, fails.
  std::optional<std::uint64_t> failing_call;
  /// The files that host code may ask for. Any other is a fault.
  KnownFiles files = {};
  /// Told after each block of a kernel how many of its launch have run, of how many.
  std::function<void(const std::string& kernel, std::uint64_t run, std::uint64_t all)> after_block;
  /// The stream of the caller: a launch or a fill on another is a fault. Any where it is not set.
  std::optional<const void*> stream;
  DeviceProperties properties;
};

}  // namespace esc
