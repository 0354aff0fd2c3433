// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "generator/schedule/bitmap_schedule.h"
#include "generator/schedule/cost.h"
#include "generator/schedule/device_key.h"
#include "generator/schedule/kernel_facts.h"
#include "generator/schedule/layer_class.h"

namespace esc {

/// Bytes that a packed tile is expected to have where so many elements are not zero, and what the fullest one of many
/// takes of shared memory.
double expected_packed_tile_bytes(const BitmapSchedule& schedule, double density);
std::int64_t expected_packed_tile_room(const BitmapSchedule& schedule, double density);

/// Registers that the compiler is expected to give a thread.
int expected_registers(const BitmapSchedule& schedule);

/// What a kernel of family bitmap is predicted to take where its weights are in no cache, from kernels that were
/// measured on one H200. Where warps multiply by themselves: the busiest multiprocessor's instructions, its share of
/// the packed matrix and its tiles of B, of which the slowest decides, after a launch and the latency of each
/// iteration; within 10.2 % of 1322 times of kernels (root mean square), layers of 512 x 512 to 14,336 x 4096 with 50
/// to 97 % zeros and 1 to 64 columns. Where warpgroups do: decoding and products of the busiest multiprocessor, and of
/// each of its waves the beginning, the latency of each iteration and the exchange of sums; within 8.5 % of 394 times,
/// such layers with 32 to 2048 columns. Launches of either do not overlap.
/// `memory_gigabytes` are those of the device a second; absent: an H200's. Infinite where a block does not fit on a
/// multiprocessor.
Cost bitmap_cost(const BitmapSchedule& schedule, const LayerShape& shape, const DeviceKey& device,
                 const KernelFacts& kernel, const std::optional<double>& memory_gigabytes);

}  // namespace esc
