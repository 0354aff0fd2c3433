// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/turns.h"

namespace esc {

void Turns::Turn::wait() {
  std::unique_lock lock(turns_.mutex_);
  turns_.changed_.wait(lock, [&] { return turns_.next_ == number_; });
}

void Turns::Turn::end() noexcept {
  const std::lock_guard lock(turns_.mutex_);
  turns_.is_over_[number_] = true;
  while (turns_.next_ < turns_.is_over_.size() && turns_.is_over_[turns_.next_]) {
    ++turns_.next_;
  }
  turns_.changed_.notify_all();
}

}  // namespace esc
