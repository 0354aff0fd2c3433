// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "generator/ir/affine.h"

namespace esc {

/// The values between which an index stays.
struct IndexRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

/// That of a sum of iterators times positive numbers, each iterator between 0 and its extent. What leaves 64 bits stays
/// at their end.
IndexRange range_of(const Affine& index, const std::function<std::int64_t(const std::string&)>& extent);

}  // namespace esc
