// SPDX-License-Identifier: Apache-2.0
#include "transformer/fragment_format.h"
#include "transformer/row_tile_sources.h"

// Clang's "flatten" inlines what the function itself calls, and not what that calls.
#ifdef __clang__
#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
#endif
#include "transformer/fragment_slots.h"
#ifdef __clang__
#pragma clang attribute pop
#endif

#include <memory>

#include "transformer/fragment_searches.h"

namespace esc::transformer {
namespace {

#if defined(__x86_64__)
/// The same with vectors of twice the length, which the search spends its time on. All of it is inlined, so that
/// nothing that is compiled for other processors, too, is compiled for those that have AVX2 alone.
[[gnu::target("avx2"), gnu::flatten]] void search_slots_by_avx2(std::uint32_t height, const KTileRows& rows,
                                                                std::uint32_t steps, std::uint64_t seed,
                                                                PackedTileSlots& slots) {
  search_slots(height, rows, steps, seed, slots);
}

void search(std::uint32_t height, const KTileRows& rows, std::uint32_t steps, std::uint64_t seed,
            PackedTileSlots& slots) {
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  (has_avx2 ? search_slots_by_avx2 : search_slots)(height, rows, steps, seed, slots);
}
#else
void search(std::uint32_t height, const KTileRows& rows, std::uint32_t steps, std::uint64_t seed,
            PackedTileSlots& slots) {
  search_slots(height, rows, steps, seed, slots);
}
#endif

std::uint64_t searches_for(const FragmentShape& shape) {
  return static_cast<std::uint64_t>(shape.row_tiles()) * k_tiles_of(shape) * max_fragment_steps;
}

}  // namespace

FragmentSearches::FragmentSearches(const FragmentShape& shape)
    : height_(shape.height), k_tiles_(k_tiles_of(shape)), found_(searches_for(shape)) {}

FragmentSearches::~FragmentSearches() {
  for (const auto& found : found_) {
    delete found.load(std::memory_order_relaxed);
  }
}

const PackedTileSlots& FragmentSearches::find(const KTileRows& rows, std::uint32_t steps, std::int64_t row_tile,
                                              std::uint64_t k_tile) {
  const std::uint64_t packed_tile = static_cast<std::uint64_t>(row_tile) * k_tiles_ + k_tile;
  std::atomic<const PackedTileSlots*>& place = found_.at(packed_tile * max_fragment_steps + steps - 1);
  if (const PackedTileSlots* const found = place.load(std::memory_order_acquire)) {
    return *found;
  }
  auto made = std::make_unique<PackedTileSlots>();
  search(height_, rows, steps, seed_of(row_tile, k_tile, 0), *made);
  // Of two threads that search at once both find the same; the first one's stays.
  const PackedTileSlots* first = nullptr;
  return place.compare_exchange_strong(first, made.get(), std::memory_order_acq_rel) ? *made.release() : *first;
}

}  // namespace esc::transformer
