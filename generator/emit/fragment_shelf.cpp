// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/fragment_shelf.h"

namespace esc {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{4} << 30;

}  // namespace

FragmentShelf::Packing FragmentShelf::get(std::uint32_t block_panels, double weight, const std::function<Packing()>& pack) {
  const std::pair key{block_panels, weight};
  std::promise<Packing> promise;
  {
    std::unique_lock lock(mutex_);
    if (const auto found = kept_.find(key); found != kept_.end()) {
      const std::shared_future<Packing> there = found->second;
      lock.unlock();
      return there.get();
    }
    if (bytes_ > most_bytes) {
      lock.unlock();
      return pack();
    }
    kept_.emplace(key, promise.get_future().share());
  }
  try {
    const Packing packing = pack();
    promise.set_value(packing);
    const std::lock_guard lock(mutex_);
    bytes_ += packing->format.bytes;
    return packing;
  } catch (...) {
    promise.set_exception(std::current_exception());
    const std::lock_guard lock(mutex_);
    kept_.erase(key);
    throw;
  }
}

}  // namespace esc
