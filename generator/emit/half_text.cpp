// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/half_text.h"

#include <fmt/format.h>

namespace esc {
namespace {

/// The conversion's name, empty where there is nothing to convert.
const char* widening(ScalarType type) {
  return type == ScalarType::f16 ? "__half2float" : type == ScalarType::bf16 ? "__bfloat162float" : "";
}
const char* narrowing(ScalarType type) {
  return type == ScalarType::f16 ? "__float2half_rn" : type == ScalarType::bf16 ? "__float2bfloat16_rn" : "";
}

std::string called(const std::string& function, const std::string& value) {
  return function.empty() ? value : fmt::format("{}({})", function, value);
}

}  // namespace

std::string widened(ScalarType type, const std::string& element) { return called(widening(type), element); }
std::string narrowed(ScalarType type, const std::string& number) { return called(narrowing(type), number); }

const char* zero_of(ScalarType type) {
  return type == ScalarType::f16 ? "__ushort_as_half(0)" : type == ScalarType::bf16 ? "__ushort_as_bfloat16(0)" : "0";
}

const char* declared_name(ScalarType type) {
  return type == ScalarType::f16 ? "struct __half" : type == ScalarType::bf16 ? "struct __nv_bfloat16" : c_name(type);
}

std::string declaration_of(ScalarType type) { return is_half(type) ? fmt::format("{};\n", declared_name(type)) : ""; }

std::string include_of(ScalarType type) {
  return type == ScalarType::f16    ? "#include <cuda_fp16.h>\n"
         : type == ScalarType::bf16 ? "#include <cuda_bf16.h>\n"
                                    : "";
}

std::map<std::string, std::string> element_holes(const LoopNest& nest) {
  const ScalarType element = nest.element();
  const bool half = is_half(element);
  const auto brackets = [](const std::string& function) {
    return function.empty() ? std::pair("", "") : std::pair("(", ")");
  };
  const auto [widen_opens, widen_closes] = brackets(widening(element));
  const auto [narrow_opens, narrow_closes] = brackets(narrowing(element));
  return {{"ELEMENT", c_name(element)},
          {"SUM", c_name(nest.sum())},
          {"FMA", nest.sum() == ScalarType::f64 ? "fma" : "fmaf"},
          {"ZERO", zero_of(element)},
          {"WIDEN_OPENS", std::string(widening(element)) + widen_opens},
          {"WIDEN_CLOSES", widen_closes},
          {"NARROW_OPENS", std::string(narrowing(element)) + narrow_opens},
          {"NARROW_CLOSES", narrow_closes},
          {"PIECE_WIDTH", half ? "row_tile_height % 2 == 0 ? 8 : 4" : fmt::format("16 / sizeof({})", c_name(element))},
          {"PAIR_BYTES", half ? "8" : fmt::format("2 * sizeof({})", c_name(element))}};
}

}  // namespace esc
