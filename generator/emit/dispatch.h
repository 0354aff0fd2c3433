// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "generator/emit/layer.h"
#include "generator/ir/loop_nest.h"
#include "generator/ir/placed_layout.h"

namespace esc {

/// How a kernel makes a product of two elements: rounded once; of parts of them that have fewer bits
/// (multiply_split_steps); or of factors that are rounded to TF32, added up by tensor cores (multiply_rounded_steps).
enum class ProductForm { whole, split, rounded };

/// By what a launcher decides which variant of its kernel a call gets, and how it cuts the call into launches.
///
/// A call is vectorised when its columns and both leading dimensions are multiples of `vector_width` and B and C begin
/// at multiples of that many elements. It is tuned when n is `tuned_items` and neither B nor C has gaps, one launch
/// takes it and, with `tuned_vectors`, it is vectorised.
struct Dispatch {
  std::int64_t tuned_items = 1;  ///< bCol
  PlacedLayout b = {};           ///< where B and C have their elements
  PlacedLayout c = {};
  bool has_vectors = false;  ///< whether a lane holds several columns, and its kernel is told if it moves them at once
  bool vectors = false;      ///< whether there is a variant that does
  bool tuned_vectors = false;     ///< whether the tuned variant does, as tuned_moves_vectors says
  std::int64_t vector_width = 1;  ///< columns that it moves at once; 1 where none does
  std::int64_t tile_columns = 0;  ///< of a block, where the grid's y goes over tiles of columns; else 0
  bool programmatic = false;      ///< launches may begin before the kernel before has ended
  bool zeroes_c = false;          ///< all of C is set to zero before the kernel, or in place of one
  bool adds_to_c = false;         ///< blocks add parts of a sum to C, atomically
  ProductForm products = ProductForm::whole;
  std::int64_t scaled_rows = 1;  ///< of A that have a scale together, where parts of products are half floats; else 1
  bool copies_in_bulk = false;   ///< before first_bulk_major the kernel has another text
  bool runs_earlier = true;      ///< before first_bulk_major
  bool needs_preparing = false;  ///< on a device where it was not prepared a launch is refused
  std::int64_t block_rows =
      0;  ///< of C that a block owns, where its packed matrix is the same whatever a block owns; else 0
  std::uint32_t packed_tile_words = 0;  ///< rows of words of a bitmap's packed tile that a block has room for
  bool unpacks = false;  ///< there are functions that write A from its packed form, and values of A into it
  std::int64_t iteration_columns =
      0;  ///< that a block takes at a time, where its threads take turns over all columns; else 0

  /// Columns of C for each of the n items of a call.
  std::int64_t item_columns() const { return c.columns_of_item(); }
};

/// The most tiles of one launch: the largest y of a grid.
inline constexpr std::int64_t most_tiles = 65535;

/// The first major compute capability that has bulk copies and clusters.
inline constexpr int first_bulk_major = 9;

/// Whether the variant for which a kernel is tuned, for `bcol` items without gaps, moves vectors.
bool tuned_moves_vectors(const LoopNest& lowered, const Environment& sizes, std::int64_t bcol);

/// That of a layer's launcher.
Dispatch dispatch_of(const Layer& layer);

}  // namespace esc
