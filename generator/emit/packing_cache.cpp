// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/packing_cache.h"

namespace esc {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{4} << 30;

/// Of the matrix where each block has each K tile once.
std::uint64_t least_bytes_of(const transformer::CsrView& matrix, const transformer::FragmentCut& cut) {
  const transformer::FragmentShape shape{cut, matrix.rows, matrix.columns, matrix.element};
  return describe(shape, {0, blocks_of(shape) * k_tiles_of(shape)}).bytes;
}

}  // namespace

std::uint64_t PackingCache::least_bytes(const transformer::CsrView& matrix, const transformer::FragmentBlock& block) {
  return least_bytes_of(matrix, transformer::least_cut(block));
}

std::uint64_t PackingCache::least_bytes(const transformer::CsrView& matrix, const transformer::FragmentBlock& block,
                                        const transformer::FragmentWeights& weights) {
  return least_bytes_of(matrix, cut_of(matrix, block, weights));
}

transformer::FragmentCut PackingCache::cut_of(const transformer::CsrView& matrix,
                                              const transformer::FragmentBlock& block,
                                              const transformer::FragmentWeights& weights) {
  return cuts_.get({block, weights},
                   [&] { return transformer::choose_fragments(matrix, block, weights, searches_of(matrix, block)); });
}

PackingCache::Packing PackingCache::get(const transformer::CsrView& matrix, const transformer::FragmentBlock& block,
                                        const transformer::FragmentWeights& weights) {
  transformer::FragmentSearches& searches = searches_of(matrix, block);
  const transformer::FragmentCut cut = cut_of(matrix, block, weights);
  const auto pack = [&]() -> Packing {
    return std::make_shared<const transformer::Packed<transformer::FragmentFormat>>(
        transformer::pack(matrix, cut, searches));
  };
  const Cut key{block, cut.steps, cut.residuals, cut.listed};
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

transformer::FragmentSearches& PackingCache::searches_of(const transformer::CsrView& matrix,
                                                         const transformer::FragmentBlock& block) {
  const std::lock_guard lock(mutex_);
  const transformer::FragmentShape shape{{.height = block.height}, matrix.rows, matrix.columns, matrix.element};
  return searches_.try_emplace(block.height, shape).first->second;
}

bool PackingCache::is_full() {
  const std::lock_guard lock(mutex_);
  return bytes_ > most_bytes;
}

}  // namespace esc
