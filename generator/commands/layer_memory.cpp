// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/layer_memory.h"

namespace esc {
namespace {

constexpr std::uint64_t most_memory = std::uint64_t{5} << 30;
constexpr std::uint64_t bytes_of_nonzero = 32;

}  // namespace

void LayerMemory::Layer::reserve(std::int64_t nonzeros) {
  const std::uint64_t bytes = bytes_of_nonzero * static_cast<std::uint64_t>(nonzeros);
  std::unique_lock lock(memory_.mutex_);
  memory_.changed_.wait(lock, [&] { return memory_.first_ == number_ || memory_.reserved_ + bytes <= most_memory; });
  memory_.reserved_ += bytes;
  reserved_ += bytes;
}

LayerMemory::Layer::~Layer() {
  const std::lock_guard lock(memory_.mutex_);
  memory_.reserved_ -= reserved_;
  memory_.is_done_[number_] = true;
  while (memory_.first_ < memory_.is_done_.size() && memory_.is_done_[memory_.first_]) {
    ++memory_.first_;
  }
  memory_.changed_.notify_all();
}

}  // namespace esc
