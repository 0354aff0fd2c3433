// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/thread_state.h"

#include <algorithm>

namespace esc {

std::int64_t ArrayView::size() const {
  std::int64_t elements_of_all = 1;
  for (const std::int64_t extent : extents) {
    elements_of_all *= extent;
  }
  return elements_of_all;
}

OwnedArray::OwnedArray(std::vector<std::int64_t> extents, Owner owner) : view_{std::move(extents)} {
  const auto size = static_cast<std::size_t>(view_.size());
  elements_.resize(size);
  written_.resize(size);
  view_.elements = elements_.data();
  view_.written = written_.data();
  view_.owner = owner;
}

void OwnedArray::reset(bool zero) {
  std::ranges::fill(elements_, 0.0);
  std::ranges::fill(written_, zero ? 1 : 0);
}

const double* ThreadState::find(std::string_view name) const {
  const std::size_t first = frames_.empty() ? 0 : frames_.back().first;
  for (std::size_t at = values_.size(); at > first; --at) {
    const std::string_view held = values_[at - 1].first;
    // Nearly all differ in this much, and this is where interpreting a nest spends its time.
    if (held.size() == name.size() && held.front() == name.front() && held == name) {
      return &values_[at - 1].second;
    }
  }
  return nullptr;
}

double* ThreadState::find(std::string_view name) {
  return const_cast<double*>(static_cast<const ThreadState*>(this)->find(name));
}

void ThreadState::enter(std::map<std::string, ArrayView, std::less<>> arrays) {
  frames_.push_back({values_.size(), std::move(arrays)});
}

void ThreadState::leave() {
  close(frames_.back().first);
  frames_.pop_back();
}

}  // namespace esc
