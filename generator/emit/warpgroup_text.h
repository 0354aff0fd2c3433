// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace esc {

/// What the registers of a lane are for, beside the sums of the block.
struct ProductRegisters {
  bool splits = false;              ///< whether the sums of a product are its own, as those of numbers that are split
  bool has_many_registers = false;  ///< those of another that places values, too
};

/// Rows of A that the tensor core multiplies at once where values are placed: the block's, or an even part of them for
/// which there are registers.
std::int64_t product_rows(std::int64_t block_rows, const ProductRegisters& registers);

/// The statement that multiplies so many rows of A by 16 columns of C for each of four warps (`wgmma`): 8 columns of A
/// from where `matrix` says, elements of B in `b`, added to `sums` where `adds` is true. Each of these elements is a
/// number of TF32, or two of 16 bits.
std::string warpgroup_product_text(std::int64_t rows, bool of_halves);

/// The product of 64 rows of A, `a`, and so many columns of B, which `matrix` describes, added to `sums`, of a type of
/// 16 bits. `transposed`: B has its columns one after the other.
std::string wgmma_text(std::int64_t columns, const char* types, bool transposed);

/// What a warp by itself multiplies: the instruction (`mma.sync`) after its name.
const char* warp_product_shape(bool of_halves);

}  // namespace esc
