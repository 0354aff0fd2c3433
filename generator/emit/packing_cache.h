// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "generator/support/made_once.h"
#include "transformer/choose_fragments.h"
#include "transformer/pack.h"

namespace esc {

/// One matrix as fragments, for those who make many kernels of it. Packing it is a search for each packed tile, which
/// is made once for each number of steps; kernels that differ in warps and stages alone read the same packed matrix,
/// and most that differ in columns of C. Safe to use from several threads, of which one packs and the others wait.
class PackingCache {
 public:
  using Packing = std::shared_ptr<const transformer::Packed<transformer::FragmentFormat>>;

  /// The least bytes of the matrix in such blocks, whatever cut is chosen: nothing is searched for or kept for that.
  static std::uint64_t least_bytes(const transformer::CsrView& matrix, const transformer::FragmentBlock& block);

  /// The least bytes of it with the cut that `get` chooses.
  std::uint64_t least_bytes(const transformer::CsrView& matrix, const transformer::FragmentBlock& block,
                            const transformer::FragmentWeights& weights);

  /// The matrix, always the same one, for blocks of such row tiles, where steps and residuals count `weights` besides
  /// their bytes. It is kept unless the shelf is full. Throws as choose_fragments and pack do.
  Packing get(const transformer::CsrView& matrix, const transformer::FragmentBlock& block,
              const transformer::FragmentWeights& weights);

 private:
  /// What a cut is chosen by.
  struct Wish {
    transformer::FragmentBlock block;
    transformer::FragmentWeights weights;

    auto operator<=>(const Wish&) const = default;
  };
  /// What tells a cut from others.
  struct Cut {
    transformer::FragmentBlock block;
    std::uint32_t steps;
    std::uint32_t residuals;
    std::uint32_t listed;

    auto operator<=>(const Cut&) const = default;
  };

  transformer::FragmentCut cut_of(const transformer::CsrView& matrix, const transformer::FragmentBlock& block,
                                  const transformer::FragmentWeights& weights);
  transformer::FragmentSearches& searches_of(const transformer::CsrView& matrix,
                                             const transformer::FragmentBlock& block);
  bool is_full();

  std::mutex mutex_;                                                 ///< guards what follows
  std::map<std::uint32_t, transformer::FragmentSearches> searches_;  ///< by the height of row tiles
  std::uint64_t bytes_ = 0;

  MadeOnce<Wish, transformer::FragmentCut> cuts_;
  MadeOnce<Cut, Packing> packings_;
};

}  // namespace esc
