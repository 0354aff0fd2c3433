// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace esc {

inline constexpr std::size_t kLanes = 32;

/// One lane's part in loading 8 x 8 matrices of 16-bit elements (`ldmatrix`).
struct MatrixLoad {
  std::uint64_t row = 0;                     ///< where the row lies that this lane names
  std::array<std::uint32_t, 4> registers{};  ///< what it gets: two elements of each matrix
  std::array<std::uint64_t, 8> sources{};    ///< where these lie: a pair at a time, or each by itself where transposed
};

/// Deals the rows of `matrices` (1, 2 or 4) to the lanes. Lanes 8 i to 8 i + 7 name the rows of matrix i. Lane l gets
/// the elements 2 (l % 4) and 2 (l % 4) + 1 of row l / 4; of the transposed matrix where `transposed`.
void load_matrices(const std::array<MatrixLoad*, kLanes>& lanes, std::uint32_t matrices, bool transposed);

/// Exchanges the lanes' registers of an 8 x 8 matrix of 16-bit elements for those of the transposed one (`movmatrix`).
/// Lane l has the elements
/// 2 (l % 4) and 2 (l % 4) + 1 of row l / 4.
void transpose_matrix(const std::array<std::uint32_t*, kLanes>& lanes);

/// An instruction that adds the product of two matrices to a matrix of float32 (`mma`), of 16 rows and 8 columns.
struct MatrixProduct {
  enum class Element : std::uint8_t { float16, bfloat16, tensor_float32 };
  Element element = Element::float16;
  bool sparse = false;         ///< A is without the half of its elements that are zero
  bool ordered = false;        ///< the instruction asks for metadata in order
  std::uint32_t selector = 0;  ///< which two lanes of four have the metadata: 0 and 1, or 2 and 3
  bool transposed = false;     ///< of a warpgroup: B has its columns one after the other

  /// The instruction as a number, which compiled text passes.
  std::uint32_t number() const;
  static MatrixProduct of(std::uint32_t number);
};

/// One lane's fragments. `b` has two registers, or four where A is sparse.
struct ProductFragments {
  float* sums = nullptr;
  const std::uint32_t* a = nullptr;
  const std::uint32_t* b = nullptr;
  std::uint32_t metadata = 0;
};

/// A piece of metadata that PTX gives no meaning.
struct BadMetadata {
  std::uint32_t lane = 0;   ///< that has it
  std::uint32_t row = 0;    ///< of A
  std::uint32_t group = 0;  ///< of four elements of the row; of two in tf32
  std::uint32_t bits = 0;
};

/// The first one, if any: two indices of a group that are equal, or not in order where the instruction asks for that;
/// in tf32 anything but 0b0100 and 0b1110.
std::optional<BadMetadata> find_bad_metadata(const MatrixProduct& product,
                                             const std::array<ProductFragments*, kLanes>& lanes);

/// Does what the instruction does: each sum with its products is added up in double, where the products are exact, and
/// rounded once. The hardware aligns the products to the largest and cuts off what lies below some bits: a tolerance
/// for results of a GPU must allow for that. Of the bits of a tf32 operand the lower 13 do not count. Infinities and
/// NaNs propagate; a NaN is the one of the hardware.
void multiply_matrices(const MatrixProduct& product, const std::array<ProductFragments*, kLanes>& lanes);

}  // namespace esc
