// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "transformer/pack.h"

namespace esc {

/// One matrix as fragments, for those who make many kernels of it: packing them is a search for each unit, and kernels that differ in warps and
/// stages alone read the same. Safe to use from several threads, of which one packs and the others wait.
class FragmentShelf {
 public:
  using Packing = std::shared_ptr<const transformer::Packed<transformer::FragmentFormat>>;

  /// What is kept for blocks of so many panels and the weight of an extra; else what `pack` makes, kept unless the shelf is full.
  Packing get(std::uint32_t block_panels, double weight, const std::function<Packing()>& pack);

 private:
  std::mutex mutex_;
  std::map<std::pair<std::uint32_t, double>, std::shared_future<Packing>> kept_;
  std::uint64_t bytes_ = 0;
};

}  // namespace esc
