// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace esc {

// The constant texts of what is emitted, from the folder templates/; `fill` fills their holes.
extern const std::string_view kernel_template;      ///< NAME.cu
extern const std::string_view unpack_template;      ///< NAME_unpack and NAME_values in it, where there are such
extern const std::string_view zero_layer_template;  ///< NAME.cu of a matrix without non-zeros

extern const std::string_view transformer_template;            ///< NAME_transformer.cpp
extern const std::string_view bound_pattern_template;          ///< in it, of a kernel that is bound to a pattern
extern const std::string_view any_pattern_template;            ///< in it, of one that takes any
extern const std::string_view any_pattern_functions_template;  ///< and its further C functions
extern const std::string_view header_template;                 ///< NAME.h
extern const std::string_view bundle_cmake_template;           ///< CMakeLists.txt of the bundle
extern const std::string_view model_header_template;           ///< NAME.h of a model
extern const std::string_view model_source_template;           ///< NAME.cpp of a model
extern const std::string_view model_cmake_template;            ///< CMakeLists.txt of a model

/// The input loop nest that is lowered when the user gives none.
extern const std::string_view spmm_template;
/// Those that a user takes with --kernel: convolutions of images in either order, and a linear layer with a row for
/// each token.
extern const std::string_view conv2d_template;
extern const std::string_view conv2d_nhwc_template;
extern const std::string_view conv2d_groups_template;
extern const std::string_view linear_nk_template;
extern const std::string_view spmm_csr_template;
/// The one that --epilogue puts together.
extern const std::string_view epilogue_template;

}  // namespace esc
