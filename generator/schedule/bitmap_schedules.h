// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "generator/schedule/bitmap_schedule.h"
#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/schedule/target.h"

namespace esc {

/// Bytes that a unit of a bitmap is expected to have where so many elements are not zero, and what the fullest one of
/// many takes of shared memory.
double expected_packed_tile_bytes(double density);
std::int64_t expected_packed_tile_room(double density);

/// Registers that the compiler is expected to give a thread.
int expected_registers(const BitmapSchedule& schedule);

/// Bytes that a bitmap of such a layer is expected to have.
double expected_bitmap_bytes(const LayerShape& shape);

/// Whether the family is made for such layers on devices from this architecture on: of 16 bits, in layouts kn and nk,
/// and with so few zeros that lists are not smaller.
bool suits_bitmap(const LayerShape& shape, int oldest_architecture);

/// What a kernel of the family is expected to take, in microseconds, where its operands are in no cache, from kernels
/// that were measured on one H200. Where warps multiply by themselves: the busiest multiprocessor's instructions, its
/// share of the packed matrix and its tiles of B, of which the slowest decides, behind a launch and the latency of each
/// turn; within 8 % of 85 kernels (root mean square), layers of 2048 x 2048 to 14,336 x 4096 with 50 to 70 % zeros and
/// 8 to 64 columns. Where warpgroups do: decoding and products of the busiest multiprocessor, behind a launch, the
/// latency of each turn and the exchange of sums; within 5 % of 65 kernels, layers of 4096 x 1024 to 14,336 x 4096 with
/// 60 % zeros and 64 to 2048 columns.
double expected_time(const BitmapSchedule& schedule, const LayerShape& shape, const KernelTarget& target);

/// The schedules of family bitmap that are legal for the layer's columns and expected to fit into shared memory, the
/// fastest first.
std::vector<ScheduleChoice> bitmap_schedules(const LayerShape& shape, const KernelTarget& target);

/// The first of them for layers of 16 bits that bitmaps multiply faster than streams do: with more columns than these
/// were tuned for (0.1 to 0.7 of their time, 4096 x 4096 with 60 % zeros and 64 to 256 columns on one H200), and in
/// layout nk with any number (in a pruned Llama 0.68 to 0.96 with 1 to 32 columns at 50 % zeros, 0.68 to 1.04 at 70 %).
/// None for smaller layers than were measured, and for those with so many zeros that lists are smaller.
std::vector<ScheduleChoice> preferred_bitmaps(const LayerShape& shape, const KernelTarget& target);

}  // namespace esc
