// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/number_type.h"

namespace esc::frontend {

std::optional<ScalarType> number_type(clang::QualType type) {
  const auto* builtin = type->getAs<clang::BuiltinType>();
  switch (builtin == nullptr ? clang::BuiltinType::Void : builtin->getKind()) {
    case clang::BuiltinType::Float:
      return ScalarType::f32;
    case clang::BuiltinType::Double:
      return ScalarType::f64;
    case clang::BuiltinType::Float16:
      return ScalarType::f16;
    case clang::BuiltinType::BFloat16:
      return ScalarType::bf16;
    default:
      return std::nullopt;
  }
}

}  // namespace esc::frontend
