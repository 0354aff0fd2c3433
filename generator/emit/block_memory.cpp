// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/block_memory.h"

#include <algorithm>

#include "generator/emit/bitmap_text.h"
#include "generator/emit/device_text.h"
#include "generator/emit/fragment_text.h"
#include "generator/emit/gather_text.h"
#include "generator/emit/region_text.h"
#include "generator/emit/runtime_parameters.h"
#include "generator/emit/shared_arrays.h"
#include "generator/schedule/target.h"

namespace esc {
namespace {

/// Of a block whose packed tiles have so much room each.
std::uint64_t bytes_with_packed_tiles(const LoopNest& nest, std::int64_t packed_tile_room) {
  return static_cast<std::uint64_t>(bytes_before_packed_tiles(nest) + staged_packed_tiles(nest) * packed_tile_room);
}

}  // namespace

bool needs_preparing(const Layer& layer) {
  return has_kernel(layer) && most_shared_bytes(layer) > unprepared_shared_bytes;
}

std::uint64_t most_shared_bytes(const Layer& layer) {
  const LoopNest& nest = layer.lowered;
  if (!is_shape_generic(layer) || nest.packed.kind != PackedForm::Kind::bitmap) {
    return shared_bytes(nest, layer.sizes);
  }
  std::uint64_t least = shared_bytes_per_block(layer.architectures.front());
  for (const int architecture : layer.architectures) {
    least = std::min(least, shared_bytes_per_block(architecture));
  }
  return least;
}

std::int64_t free_packed_tile_room(const LoopNest& nest, std::int64_t packed_tile_room,
                                   const std::vector<int>& architectures) {
  constexpr std::uint64_t of_each_block = 1024;  // which CUDA takes for itself
  const std::uint64_t own = bytes_with_packed_tiles(nest, packed_tile_room);
  const auto is_free = [&](std::uint64_t bytes) {
    return (bytes <= unprepared_shared_bytes) == (own <= unprepared_shared_bytes) &&
           std::ranges::all_of(architectures, [&](int architecture) {
             const std::uint64_t all = shared_bytes_per_block(architecture) + of_each_block;
             return all / (bytes + of_each_block) == all / (own + of_each_block);
           });
  };
  std::uint32_t words = transformer::max_bitmap_words;
  while (room_for_words(words) > packed_tile_room && !is_free(bytes_with_packed_tiles(nest, room_for_words(words)))) {
    --words;
  }
  return std::max(packed_tile_room, room_for_words(words));
}

std::uint64_t shared_bytes(const LoopNest& nest, const Environment& layer_sizes) {
  if (nest.packed.has_packed_tiles()) {
    return bytes_with_packed_tiles(nest, layer_sizes.at("packed_tile_room"));
  }
  auto bytes = static_cast<std::uint64_t>(declared_shared_bytes(nest));
  if (stages_packets(nest)) {
    bytes += staged_bytes(nest, layer_sizes);
  }
  if (gathers_rows(nest)) {
    bytes += gathered_bytes(nest, layer_sizes);
  } else if (stages_k_tiles(nest)) {
    bytes = staged_k_tile_bytes(nest, layer_sizes) + (sums_stand_behind_k_tiles(nest) ? bytes : 0);
  }
  return bytes;
}

}  // namespace esc
