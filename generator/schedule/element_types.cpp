// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/element_types.h"

#include <algorithm>

namespace esc {

bool is_half_type(std::string_view dtype) { return dtype == "f16" || dtype == "bf16"; }

int bytes_of_type(std::string_view dtype) { return is_half_type(dtype) ? 2 : dtype == "f64" ? 8 : 4; }

int value_bytes(std::string_view dtype) { return std::max(4, bytes_of_type(dtype)); }

std::string arithmetic_of(std::string_view dtype) { return std::string(is_half_type(dtype) ? "f16" : dtype); }

std::vector<std::string> types_like(std::string_view dtype) {
  if (is_half_type(dtype)) {
    return {std::string(dtype), dtype == "f16" ? "bf16" : "f16", "f32"};
  }
  return dtype == "f32" ? std::vector<std::string>{"f32"} : std::vector<std::string>{std::string(dtype), "f32"};
}

}  // namespace esc
