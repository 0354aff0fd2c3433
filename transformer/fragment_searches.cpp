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
#include <stdexcept>

#include "transformer/fragment_searches.h"

namespace esc::transformer {
namespace {

#if defined(__x86_64__)
/// The same with vectors of twice the length, which the search spends its time on. All of it is inlined, so that
/// nothing that is compiled for other processors, too, is compiled for those that have AVX2 alone.
[[gnu::target("avx2"), gnu::flatten]] void search_slots_by_avx2(const FragmentShape& shape, const KTileRows& rows,
                                                                const PackedTileSteps& steps, std::uint64_t seed,
                                                                PackedTileSlots& slots) {
  search_slots(shape, rows, steps, seed, slots);
}

void search(const FragmentShape& shape, const KTileRows& rows, const PackedTileSteps& steps, std::uint64_t seed,
            PackedTileSlots& slots) {
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  (has_avx2 ? search_slots_by_avx2 : search_slots)(shape, rows, steps, seed, slots);
}
#else
void search(const FragmentShape& shape, const KTileRows& rows, const PackedTileSteps& steps, std::uint64_t seed,
            PackedTileSlots& slots) {
  search_slots(shape, rows, steps, seed, slots);
}
#endif

/// The place of so many steps, of which none or some or all are 1:4 steps, among all that there may be.
constexpr std::uint32_t number_of(const PackedTileSteps& steps) {
  return (steps.all * (steps.all + 1) - 2) / 2 + steps.sparse14;
}
constexpr std::uint32_t kinds_of_steps = number_of({max_fragment_steps, max_fragment_steps}) + 1;

std::uint64_t searches_for(const FragmentShape& shape) {
  const std::uint64_t kinds = element_of(shape).has_sparse14_steps() ? kinds_of_steps : max_fragment_steps;
  return static_cast<std::uint64_t>(shape.row_tiles()) * k_tiles_of(shape) * kinds;
}

}  // namespace

FragmentSearches::FragmentSearches(const FragmentShape& shape)
    : shape_(shape), k_tiles_(k_tiles_of(shape)), found_(searches_for(shape)) {}

FragmentSearches::~FragmentSearches() {
  for (const auto& found : found_) {
    delete found.load(std::memory_order_relaxed);
  }
}

const PackedTileSlots& FragmentSearches::find(const KTileRows& rows, const PackedTileSteps& steps,
                                              std::int64_t row_tile, std::uint64_t k_tile) {
  const std::uint64_t packed_tile = static_cast<std::uint64_t>(row_tile) * k_tiles_ + k_tile;
  const bool has_sparse14_types = element_of(shape_).has_sparse14_steps();
  std::atomic<const PackedTileSlots*>& place =
      found_.at(has_sparse14_types ? packed_tile * kinds_of_steps + number_of(steps)
                                   : packed_tile * max_fragment_steps + steps.all - 1);
  if (const PackedTileSlots* const found = place.load(std::memory_order_acquire)) {
    return *found;
  }
  auto made = std::make_unique<PackedTileSlots>();
  search(shape_, rows, steps, seed_of(row_tile, k_tile, 0), *made);
  // Of two threads that search at once both find the same; the first one's stays.
  const PackedTileSlots* first = nullptr;
  return place.compare_exchange_strong(first, made.get(), std::memory_order_acq_rel) ? *made.release() : *first;
}

void check_steps(ScalarType element, bool has_sparse14_steps, bool has_whole_dense_steps, bool has_placed_values) {
  const FragmentElement taken{static_cast<std::uint32_t>(size_of(element))};
  if (has_sparse14_steps && !taken.has_sparse14_steps()) {
    throw std::invalid_argument("a matrix cannot be packed so: 1:4 steps are of elements of 16 bits");
  }
  if (has_whole_dense_steps && !taken.has_whole_dense_steps()) {
    throw std::invalid_argument(
        "a matrix cannot be packed so: dense steps that store every element are of elements of 32 bits");
  }
  if (has_placed_values && !taken.has_placed_values()) {
    throw std::invalid_argument("a matrix cannot be packed so: placed values are of elements of 32 bits");
  }
}

}  // namespace esc::transformer
