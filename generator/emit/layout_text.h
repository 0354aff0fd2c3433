// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "generator/ir/loop_nest.h"

namespace esc {

/// Columns of C for each of the n items of a call: images of so many points, or single columns.
std::int64_t item_columns(const LoopNest& nest);

// Where the elements of matrices are that are not row-major, in the text of a kernel and of its launcher. `sizes` has
// those of the layer.

/// Device functions place_in_NAME(row, column, leading dimension) for C and what is like it and, of B, for a row and
/// for an element of it. Empty where all of them are row-major.
std::string layout_functions(const LoopNest& nest, const Environment& sizes);

/// Whether the array is a matrix with a layout, or holds columns of one.
bool is_placed(const LoopNest& nest, const ArrayDeclaration& array);

/// Whether the instruction is called with such an array in front, and has a text of its own for that.
bool is_placed(const LoopNest& nest, const Perform& perform);

/// What the texts of instructions that read B have in the place of a row and of an element.
std::map<std::string, std::string> dense_holes(const LoopNest& nest);

/// Whether the kernel has a variant that moves several columns of a lane at once: where B and C allow it.
bool moves_vectors(const LoopNest& nest, const Environment& sizes);

/// The least leading dimension of an array for `items`, a C expression of the caller's: "n", "200704".
std::string least_leading_dimension(const ArrayDeclaration& array, const Environment& sizes, const std::string& items);

/// How many leading dimensions it has then.
std::string outermost_extent(const ArrayDeclaration& array, const Environment& sizes, const std::string& items);

/// How far the array is on for `items` more of the first digit of a column: "done", "done * ldb".
std::string distance_of_items(const ArrayDeclaration& array, const Environment& sizes, const std::string& items,
                              const std::string& leading_dimension);

/// "X[n][64][56][56]", for the comments of the interface.
std::string form_of(const ArrayDeclaration& array, const Environment& sizes, const std::string& name);

}  // namespace esc
