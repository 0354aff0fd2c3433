// SPDX-License-Identifier: Apache-2.0
#include "transformer/fragment_searches.h"

#include <memory>

namespace esc::transformer {
namespace {

#if defined(__x86_64__)
/// The same with vectors of twice the length, which the search spends its time on. All of it is inlined, so that
/// nothing that is compiled for other processors, too, is compiled for those that have AVX2 alone.
[[gnu::target("avx2"), gnu::flatten]] void search_slots_by_avx2(const FragmentShape& shape, const WindowRows& rows,
                                                                std::uint32_t steps, std::uint64_t seed,
                                                                UnitSlots& slots) {
  search_slots(shape, rows, steps, seed, slots);
}

void search(const FragmentShape& shape, const WindowRows& rows, std::uint32_t steps, std::uint64_t seed,
            UnitSlots& slots) {
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  (has_avx2 ? search_slots_by_avx2 : search_slots)(shape, rows, steps, seed, slots);
}
#else
void search(const FragmentShape& shape, const WindowRows& rows, std::uint32_t steps, std::uint64_t seed,
            UnitSlots& slots) {
  search_slots(shape, rows, steps, seed, slots);
}
#endif

}  // namespace

FragmentSearches::FragmentSearches(const FragmentShape& shape)
    : shape_(shape), windows_(windows_of(shape)), found_(static_cast<std::uint64_t>(shape.panels()) * windows_ * max_fragment_steps) {}

FragmentSearches::~FragmentSearches() {
  for (const auto& found : found_) {
    delete found.load(std::memory_order_relaxed);
  }
}

const UnitSlots& FragmentSearches::find(const WindowRows& rows, std::uint32_t steps, std::int64_t panel,
                                        std::uint64_t window) {
  const std::uint64_t unit = static_cast<std::uint64_t>(panel) * windows_ + window;
  std::atomic<const UnitSlots*>& place = found_.at(unit * max_fragment_steps + steps - 1);
  if (const UnitSlots* const found = place.load(std::memory_order_acquire)) {
    return *found;
  }
  auto made = std::make_unique<UnitSlots>();
  search(shape_, rows, steps, seed_of(panel, window, 0), *made);
  // Of two threads that search at once both find the same; the first one's stays.
  const UnitSlots* first = nullptr;
  return place.compare_exchange_strong(first, made.get(), std::memory_order_acq_rel) ? *made.release() : *first;
}

}  // namespace esc::transformer
