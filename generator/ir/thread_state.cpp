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

const ArrayView* ThreadState::Frame::find(const std::string& name) const {
  const SoughtName sought(name);
  for (const auto& [digest, array] : by_digest) {
    if (digest == sought.digest() && sought.is(array->first)) {
      return &array->second;
    }
  }
  return nullptr;
}

void ThreadState::enter(std::map<std::string, ArrayView, std::less<>> arrays) {
  Frame& frame = frames_.emplace_back(values_.size(), std::move(arrays));
  for (const auto& array : frame.arrays) {
    frame.by_digest.emplace_back(SoughtName(array.first).digest(), &array);
  }
}

void ThreadState::leave() {
  close(frames_.back().first);
  frames_.pop_back();
}

}  // namespace esc
