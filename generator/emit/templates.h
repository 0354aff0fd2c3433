#pragma once

#include <string_view>

namespace esc {

// The constant texts of what is emitted, from the folder templates/; `fill` fills their holes.
extern const std::string_view kernel_template;        ///< NAME.cu
extern const std::string_view zero_layer_template;    ///< NAME.cu of a matrix without non-zeros

/// NAME.cu of a panel kernel, its part for the GPU, and in that the parts that depend on the schedule: reading a region through registers or through
/// shared memory, storing from one warp or from all warps of a block, and the functions of a dependent launch.
extern const std::string_view panel_kernel_template;
extern const std::string_view panel_device_template;
extern const std::string_view panel_dependency_template;
extern const std::string_view panel_read_direct_template;
extern const std::string_view panel_read_staged_template;
extern const std::string_view panel_store_warp_template;
extern const std::string_view panel_store_block_template;

extern const std::string_view transformer_template;   ///< NAME_transformer.cpp
extern const std::string_view header_template;        ///< NAME.h
extern const std::string_view bundle_cmake_template;  ///< CMakeLists.txt of the bundle

/// The input loop nest that is lowered when the user gives none.
extern const std::string_view spmm_template;

}  // namespace esc
