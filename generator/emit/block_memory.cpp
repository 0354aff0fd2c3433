// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/block_memory.h"

#include <algorithm>

#include "generator/emit/bitmap_text.h"
#include "generator/emit/device_text.h"
#include "generator/emit/fragment_text.h"
#include "generator/emit/gather_text.h"
#include "generator/emit/region_text.h"
#include "generator/emit/shared_arrays.h"
#include "generator/emit/told_numbers.h"
#include "generator/schedule/target.h"

namespace esc {
namespace {

/// Of a block whose units have so much room each.
std::uint64_t bytes_with_units(const LoopNest& nest, std::int64_t unit_room) {
  return static_cast<std::uint64_t>(bytes_before_units(nest) + staged_units(nest) * unit_room);
}

}  // namespace

bool needs_preparing(const Layer& layer) {
  return has_kernel(layer) && most_shared_bytes(layer) > unprepared_shared_bytes;
}

std::uint64_t most_shared_bytes(const Layer& layer) {
  const LoopNest& nest = layer.lowered;
  if (!is_told(layer) || !has_bitmap(nest)) {
    return shared_bytes(nest, layer.sizes);
  }
  std::uint64_t least = shared_bytes_per_block(layer.architectures.front());
  for (const int architecture : layer.architectures) {
    least = std::min(least, shared_bytes_per_block(architecture));
  }
  return least;
}

std::int64_t free_unit_room(const LoopNest& nest, std::int64_t unit_room, const std::vector<int>& architectures) {
  constexpr std::uint64_t of_each_block = 1024;  // which CUDA takes for itself
  const std::uint64_t own = bytes_with_units(nest, unit_room);
  const auto is_free = [&](std::uint64_t bytes) {
    return (bytes <= unprepared_shared_bytes) == (own <= unprepared_shared_bytes) &&
           std::ranges::all_of(architectures, [&](int architecture) {
             const std::uint64_t all = shared_bytes_per_block(architecture) + of_each_block;
             return all / (bytes + of_each_block) == all / (own + of_each_block);
           });
  };
  std::uint32_t words = transformer::max_bitmap_words;
  while (room_for_words(words) > unit_room && !is_free(bytes_with_units(nest, room_for_words(words)))) {
    --words;
  }
  return std::max(unit_room, room_for_words(words));
}

std::uint64_t shared_bytes(const LoopNest& nest, const Environment& layer_sizes) {
  if (has_bitmap(nest)) {
    return bytes_with_units(nest, layer_sizes.at("unit_room"));
  }
  auto bytes = static_cast<std::uint64_t>(declared_shared_bytes(nest));
  if (stages_quads(nest)) {
    bytes += staged_bytes(nest, layer_sizes);
  }
  if (gathers_rows(nest)) {
    bytes += gathered_bytes(nest, layer_sizes);
  } else if (stages_windows(nest)) {
    bytes = staged_window_bytes(nest, layer_sizes) + (sums_stand_behind_windows(nest) ? bytes : 0);
  }
  return bytes;
}

}  // namespace esc
