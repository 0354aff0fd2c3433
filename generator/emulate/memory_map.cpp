// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/memory_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "generator/support/error.h"

namespace esc {
namespace {

constexpr std::uint64_t kInitBits = 15;

/// The bits of the bytes of word `word` (an address divided by 4) that lie in [first, end).
std::uint32_t bytes_in_word(std::uint64_t word, std::uint64_t first, std::uint64_t end) {
  const std::uint64_t low = std::max(first, word * 4) - word * 4;
  const std::uint64_t high = std::min(end, word * 4 + 4) - word * 4;
  return ((1u << high) - 1u) & ~((1u << low) - 1u);
}

/// How far the bytes reach outside the region; written so that no address overflows.
std::uint64_t distance(const Region& region, std::uint64_t address, std::uint64_t size) {
  if (address < region.base) {
    return region.base - address;
  }
  const std::uint64_t offset = address - region.base;
  if (offset >= region.bytes) {
    return offset - region.bytes + size;
  }
  return size > region.bytes - offset ? size - (region.bytes - offset) : 0;
}

}  // namespace

void Region::set_initialised(std::uint64_t address, std::uint64_t size, bool initialised) {
  if (shadow() == nullptr || size == 0) {
    return;
  }
  for (std::uint64_t at = address >> 2; at <= (address + size - 1) >> 2; ++at) {
    WordShadow& entry = shadow()[at - (base >> 2)];
    const std::uint64_t bits = bytes_in_word(at, address, address + size);
    entry.read = initialised ? entry.read | bits : entry.read & ~bits;
  }
}

std::uint64_t Region::count_uninitialised() const {
  std::uint64_t written = 0;
  for (std::uint64_t index = 0; shadow() != nullptr && index < words(); ++index) {
    const std::uint32_t inside = bytes_in_word((base >> 2) + index, base, base + bytes);
    written += static_cast<std::uint64_t>(std::popcount(shadow()[index].read & kInitBits & inside));
  }
  return tracks_init ? bytes - written : 0;
}

void Region::forget_accesses() {
  for (std::uint64_t index = 0; shadow() != nullptr && index < words(); ++index) {
    shadow()[index] = {0, shadow()[index].read & kInitBits, 0, 0};
  }
}

Region& MemoryMap::add(Region region) {
  const auto after = std::upper_bound(regions_.begin(), regions_.end(), region.base,
                                      [](std::uint64_t base, const auto& other) { return base < other->base; });
  const auto overlaps = [&](const Region& other) {
    return region.base < other.base + other.bytes && other.base < region.base + region.bytes;
  };
  if ((after != regions_.end() && overlaps(**after)) || (after != regions_.begin() && overlaps(**std::prev(after)))) {
    const Region& other = after != regions_.end() && overlaps(**after) ? **after : **std::prev(after);
    throw UserError(region.name, fmt::format("overlaps {}", other.name), "register memory once");
  }
  return **regions_.insert(after, std::make_unique<Region>(std::move(region)));
}

void MemoryMap::remove(const Region& region) {
  std::erase_if(regions_, [&](const auto& other) { return other.get() == &region; });
}

Region* MemoryMap::find(std::uint64_t address, std::uint64_t size) const {
  const auto after = std::upper_bound(regions_.begin(), regions_.end(), address,
                                      [](std::uint64_t wanted, const auto& other) { return wanted < other->base; });
  if (after == regions_.begin() || !(*std::prev(after))->contains(address, size)) {
    return nullptr;
  }
  return std::prev(after)->get();
}

Region* MemoryMap::find(const std::string& name) const {
  const auto found = std::find_if(regions_.begin(), regions_.end(), [&](const auto& r) { return r->name == name; });
  return found == regions_.end() ? nullptr : found->get();
}

std::string MemoryMap::describe_nearest(std::uint64_t address, std::uint64_t size) const {
  const auto nearest = std::min_element(regions_.begin(), regions_.end(), [&](const auto& a, const auto& b) {
    return distance(*a, address, size) < distance(*b, address, size);
  });
  constexpr std::uint64_t kFar = std::uint64_t{1} << 40;
  if (nearest == regions_.end() || distance(**nearest, address, size) > kFar) {
    return fmt::format("address {:#x}, near no buffer", address);
  }
  const Region& region = **nearest;
  const auto offset = static_cast<std::int64_t>(address - region.base);
  if (address < region.base) {
    return fmt::format("{} bytes before the start of {} ({} bytes), offset {}", region.base - address, region.name,
                       region.bytes, offset);
  }
  return fmt::format("{} bytes past the end of {} ({} bytes), offset {}", distance(region, address, size), region.name,
                     region.bytes, offset);
}

}  // namespace esc
