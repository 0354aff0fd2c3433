// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/ir/loop_nest.h"

namespace esc {

// What an epilogue reads beside the sums, its operands, in the texts of a kernel: a number is passed by its value, a
// vector by its address and a matrix by its address and its leading dimension, in the order of the nest. Each text
// begins with a comma where something is before it.

/// Of the kernel: ", const float* __restrict__ bias_, const float* residual_, long long residual_ld, float scale_". A
/// matrix may be C itself.
std::string operand_kernel_parameters(const LoopNest& nest);
/// Of the C function: ", const float* bias_, const float* residual_, int64_t residual_ld, float scale_".
std::string operand_parameters(const LoopNest& nest);
/// The same in the header.
std::string declared_operands(const LoopNest& nest);
/// What the C function hands on, for columns from `done` on.
std::string operand_arguments(const LoopNest& nest, const Environment& sizes, const std::string& done);
/// Their names, as a caller has them: ", bias_, residual_, residual_ld".
std::string operand_names(const LoopNest& nest);
/// What each is, as rows of a table of esc_operand: "{"bias_", "f32", "rows"},", a line each. The nest is in canonical
/// form.
std::string operand_rows(const LoopNest& nest);
/// The same call with what is in an array of esc_argument: ", static_cast<const float*>(arguments[0].data)".
std::string operand_values(const LoopNest& nest);
/// What makes a call illegal: " || bias_ == nullptr || residual_ld < n".
std::string operand_refusals(const LoopNest& nest, const Environment& sizes);
/// What the epilogue of a nest in canonical form makes of the sums, as the nest says it, and what the operands are, as
/// lines of a header's comment.
std::string epilogue_notes(const LoopNest& nest);

/// "residual_ld": the leading dimension of a matrix. No name of the user's own ends like that, for they all end in an
/// underscore.
std::string leading_dimension_of(const ArrayDeclaration& operand);

}  // namespace esc
