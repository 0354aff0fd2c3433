// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <clang/AST/Type.h>

#include <optional>

#include "generator/ir/scalar_type.h"

namespace esc::frontend {

/// The type of numbers that a nest may have; nothing for others.
std::optional<ScalarType> number_type(clang::QualType type);

}  // namespace esc::frontend
