// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "generator/ir/affine.h"

namespace esc {

/// A dense array of any rank, row-major, in double. Index arrays are held the same way: exact up to 2^53.
struct Tensor {
  std::vector<std::int64_t> extents;
  std::vector<double> elements;

  bool operator==(const Tensor&) const = default;
};

/// What a nest runs on: the sizes by name, and every array it mentions.
struct Memory {
  Environment sizes;
  std::map<std::string, Tensor> arrays;
};

}  // namespace esc
