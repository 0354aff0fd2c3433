// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/element_types.h"

namespace esc {

bool is_half_type(std::string_view dtype) { return dtype == "f16" || dtype == "bf16"; }

int bytes_of_type(std::string_view dtype) { return is_half_type(dtype) ? 2 : 4; }

std::vector<std::string> types_like(std::string_view dtype) {
  if (is_half_type(dtype)) {
    return {std::string(dtype), dtype == "f16" ? "bf16" : "f16", "f32"};
  }
  return dtype == "tf32" ? std::vector<std::string>{"tf32", "f32"} : std::vector<std::string>{"f32"};
}

}  // namespace esc
