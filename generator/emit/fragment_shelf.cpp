// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/fragment_shelf.h"

namespace esc {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{4} << 30;

}  // namespace

FragmentShelf::Packing FragmentShelf::get(const transformer::CsrView& matrix, const transformer::FragmentBlock& block,
                                          const transformer::FragmentWeights& weights) {
  transformer::FragmentSearches& searches = searches_of(matrix, block);
  const transformer::FragmentCut cut =
      cuts_.get({block, weights}, [&] { return transformer::choose_fragments(matrix, block, weights, searches); });
  const auto pack = [&]() -> Packing {
    return std::make_shared<const transformer::Packed<transformer::FragmentFormat>>(
        transformer::pack(matrix, cut, searches));
  };
  const Cut key{block, cut.steps, cut.quarter_steps, cut.extras, cut.listed};
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

transformer::FragmentSearches& FragmentShelf::searches_of(const transformer::CsrView& matrix, const transformer::FragmentBlock& block) {
  const std::lock_guard lock(mutex_);
  const transformer::FragmentShape shape{{.height = block.height, .line_rows = block.line_rows}, matrix.rows, matrix.columns, matrix.element};
  return searches_.try_emplace(std::pair(block.height, block.line_rows), shape).first->second;
}

bool FragmentShelf::is_full() {
  const std::lock_guard lock(mutex_);
  return bytes_ > most_bytes;
}

}  // namespace esc
