// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/block_memory.h"

#include "generator/emit/device_text.h"
#include "generator/emit/fragment_text.h"
#include "generator/emit/gather_text.h"
#include "generator/emit/region_text.h"
#include "generator/emit/shared_arrays.h"

namespace esc {

bool needs_preparing(const Layer& layer) {
  return has_kernel(layer) && shared_bytes(layer.lowered, layer.sizes) > unprepared_shared_bytes;
}

std::uint64_t shared_bytes(const LoopNest& nest, const Environment& layer_sizes) {
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
