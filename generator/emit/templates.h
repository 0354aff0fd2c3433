#pragma once

#include <string_view>

namespace esc {

// The constant texts of what is emitted, from the folder templates/; `fill` fills their holes.
extern const std::string_view kernel_template;        ///< NAME.cu
extern const std::string_view zero_layer_template;    ///< NAME.cu of a matrix without non-zeros

/// NAME.cu of a panel kernel, its part for the GPU, and in that the parts that depend on the schedule: reading the quads of
/// a warp through registers or through shared memory, copying their columns there, asking which panels are stored, and
/// storing from one warp or from all warps of a block.
extern const std::string_view panel_kernel_template;
extern const std::string_view panel_device_template;
extern const std::string_view panel_read_direct_template;
extern const std::string_view panel_read_staged_template;
extern const std::string_view panel_copy_columns_template;
extern const std::string_view panel_numbers_warp_template;
extern const std::string_view panel_numbers_block_template;
extern const std::string_view panel_store_warp_template;
extern const std::string_view panel_store_block_template;

/// NAME.cu of a rows kernel, and its part for the GPU.
extern const std::string_view rows_kernel_template;
extern const std::string_view rows_device_template;

/// What the kernels of several families have for the GPU: loading and storing what a lane has of a row, adding up the sums of
/// lane groups, and the functions of a dependent launch.
extern const std::string_view lane_parts_template;
extern const std::string_view lane_sums_template;
extern const std::string_view dependency_template;

extern const std::string_view transformer_template;   ///< NAME_transformer.cpp
extern const std::string_view header_template;        ///< NAME.h
extern const std::string_view bundle_cmake_template;  ///< CMakeLists.txt of the bundle

/// The input loop nest that is lowered when the user gives none.
extern const std::string_view spmm_template;

}  // namespace esc
