// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "generator/support/error.h"

namespace esc {
namespace {

constexpr int kibibyte = 1024;
constexpr int registers_of_all = 64 * 1024;

struct Row {
  int capability;
  int warps;
  int blocks;
  int shared_kibibytes;
};

/// By ascending capability.
constexpr Row table[] = {
    {70, 64, 32, 96},   {72, 64, 32, 96},   {75, 32, 16, 64},   {80, 64, 32, 164},  {86, 48, 16, 100},
    {87, 48, 16, 164},  {89, 48, 24, 100},  {90, 64, 32, 228},  {100, 64, 32, 228}, {103, 64, 32, 228},
    {110, 48, 24, 228}, {120, 48, 24, 100}, {121, 48, 24, 100},
};

int up_to_multiple(int value, int portion) { return (value + portion - 1) / portion * portion; }

int warps_of_block(const KernelFacts& kernel) {
  return up_to_multiple(kernel.threads, SmLimits::warp_threads) / SmLimits::warp_threads;
}

/// A block is refused as if each partition had to hold the same number of its warps.
int blocks_by_registers(const KernelFacts& kernel, const SmLimits& limits) {
  const int of_warp = up_to_multiple(kernel.registers * SmLimits::warp_threads, limits.register_portion);
  if (of_warp == 0) {
    return limits.blocks;
  }
  if (of_warp * up_to_multiple(warps_of_block(kernel), limits.partitions) > limits.registers) {
    return 0;
  }
  const int warps = limits.registers / limits.partitions / of_warp * limits.partitions;
  return warps / warps_of_block(kernel);
}

int blocks_by_shared_memory(const KernelFacts& kernel, const SmLimits& limits) {
  const int of_block = up_to_multiple(kernel.shared_bytes + limits.reserved_shared_bytes, limits.shared_portion);
  return of_block == 0 ? limits.blocks : limits.shared_bytes / of_block;
}

}  // namespace

SmLimits sm_limits(int capability) {
  if (capability < table[0].capability) {
    throw UserError(fmt::format("compute capability {}.{}", capability / 10, capability % 10),
                    "is older than what is known here", "use a GPU of compute capability 7.0 or newer");
  }
  const Row* const behind = std::upper_bound(std::begin(table), std::end(table), capability,
                                             [](int value, const Row& row) { return value < row.capability; });
  const Row& row = behind[-1];
  const bool reserves = row.capability >= 80;
  return {.warps = row.warps,
          .blocks = row.blocks,
          .registers = registers_of_all,
          .shared_bytes = row.shared_kibibytes * kibibyte,
          .reserved_shared_bytes = reserves ? kibibyte : 0,
          .shared_portion = reserves ? 128 : 256};
}

int resident_blocks(const KernelFacts& kernel, const SmLimits& limits) {
  if (kernel.threads < 1 || kernel.threads > SmLimits::most_threads || kernel.registers > SmLimits::most_registers) {
    return 0;
  }
  return std::min({limits.blocks, limits.warps / warps_of_block(kernel), blocks_by_registers(kernel, limits),
                   blocks_by_shared_memory(kernel, limits)});
}

int clustered_multiprocessors(int multiprocessors, int cluster) {
  // Of the 132 of an H100 and an H200 30 clusters of four blocks are there at once, which is what groups of 18, 16 and
  // 14 multiprocessors have room for. Others are taken to have as many parts of it.
  constexpr int groups[] = {18, 18, 18, 18, 16, 16, 14, 14};
  constexpr int of_all_groups = 132;
  int reached = 0;
  for (const int group : groups) {
    reached += group / cluster * cluster;
  }
  return multiprocessors * reached / of_all_groups;
}

int resident_warps(const KernelFacts& kernel, const SmLimits& limits) {
  return resident_blocks(kernel, limits) * std::max(0, warps_of_block(kernel));
}

}  // namespace esc
