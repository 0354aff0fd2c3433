// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/fragment_shelf.h"

#include "transformer/choose_fragments.h"

namespace esc {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{4} << 30;

}  // namespace

FragmentShelf::Packing FragmentShelf::get(const transformer::CsrView& matrix, std::uint32_t block_panels,
                                          double weight) {
  transformer::FragmentSearches& searches = searches_of(matrix);
  const transformer::FragmentCut cut = cuts_.get(
      {block_panels, weight}, [&] { return transformer::choose_fragments(matrix, block_panels, weight, searches); });
  const auto pack = [&]() -> Packing {
    return std::make_shared<const transformer::Packed<transformer::FragmentFormat>>(
        transformer::pack(matrix, cut, searches));
  };
  const Cut key{cut.block_panels, cut.steps, cut.extras};
  if (is_full() && !packings_.has(key)) {
    return pack();
  }
  return packings_.get(key, [&] {
    const Packing packing = pack();
    const std::lock_guard lock(mutex_);
    bytes_ += packing->format.bytes;
    return packing;
  });
}

transformer::FragmentSearches& FragmentShelf::searches_of(const transformer::CsrView& matrix) {
  const std::lock_guard lock(mutex_);
  if (!searches_) {
    searches_.emplace(transformer::FragmentShape{{}, matrix.rows, matrix.columns, matrix.element});
  }
  return *searches_;
}

bool FragmentShelf::is_full() {
  const std::lock_guard lock(mutex_);
  return bytes_ > most_bytes;
}

}  // namespace esc
