// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/target.h"

namespace esc::test {

/// A layer with so large a share of non-zeros in rows of equal lengths.
inline LayerShape layer_of(std::int64_t rows, std::int64_t columns, double density, long long bcol, std::string dtype = "f32") {
  return {.bcol = bcol, .rows = rows, .columns = columns, .nonzeros = static_cast<std::int64_t>(static_cast<double>(rows * columns) * density), .dtype = std::move(dtype)};
}

inline constexpr KernelTarget hopper{.oldest_architecture = 90, .newest_architecture = 90};
inline constexpr KernelTarget ampere_and_hopper{.oldest_architecture = 80, .newest_architecture = 90};

/// What a rule says of a layer, as text.
struct ExpectedSchedule {
  LayerShape shape;
  const char* schedule;
};

}  // namespace esc::test
