// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "generator/matrix/sparse_matrix.h"
#include "generator/matrix/typed_elements.h"
#include "generator/verify/bundle_interface.h"
#include "generator/verify/drawn_calls.h"

namespace esc {

/// What the transformer's functions return, as the header of the bundle says.
enum class TransformStatus { done = 0, bad_argument = 1, refused_pattern = 2, unreadable_file = 3, bad_file = 4 };

/// Another matrix of the same shape, and what the transformer makes of it.
struct OtherMatrix {
  SparseMatrix matrix;
  std::vector<std::byte> packed;
};

/// How much of a transformer is called for.
struct TransformEffort {
  std::int64_t most_dense_elements = 0;  ///< rows times columns of a matrix that is packed from dense as well
  Breadth breadth = Breadth::unknown;
  std::uint64_t seed = 1;               ///< of the other values, and of which non-zeros are moved
  std::int64_t line_rows = 1;           ///< rows whose other values are of one kind
  std::uint32_t packed_tile_words = 0;  ///< that the kernel has room for, as Dispatch says
};

/// Room for a packed matrix at an address that is divisible by 8, which the interface asks for, and by turns by no
/// more, or by 64.
class PackedRoom {
 public:
  explicit PackedRoom(std::size_t bytes) : bytes_(bytes), memory_(bytes + spare) {}

  /// Nothing that a call has left there.
  void poison();
  /// To the other one of its addresses.
  void move() { shift_ = 8 - shift_; }

  std::byte* data();
  std::size_t size() const { return bytes_; }
  std::vector<std::byte> contents() { return {data(), data() + bytes_}; }
  /// Whether all around it is as it was poisoned.
  bool is_untouched_around();

 private:
  static constexpr std::size_t alignment = 64;
  static constexpr std::size_t spare = 2 * alignment;
  std::size_t bytes_;
  std::size_t shift_ = 0;
  std::vector<std::byte> memory_;
};

/// A matrix as the CSR functions take it.
struct CsrArrays {
  std::vector<std::int32_t> offsets;
  std::vector<std::int32_t> columns;
  std::vector<double> values;
};

CsrArrays csr_of(const SparseMatrix& matrix);

/// The matrix as a dense, row-major array of its element type, rows `lda` elements apart, with NaN between them and
/// `zero`, of either sign, where it has no entries; the last row ends with its last element.
TypedElements dense_elements(const SparseMatrix& matrix, std::int64_t lda, double zero = 0.0);
inline TypedElements dense_elements(const SparseMatrix& matrix) { return dense_elements(matrix, matrix.columns); }

/// Values over the whole range of the type; those of so many rows beside each other are of one kind.
SparseMatrix with_other_values(const SparseMatrix& matrix, std::uint64_t seed, std::int64_t line_rows);

/// What a caller may have for elements that a transformer rounds: bits that rounding takes away, of half a unit nearer
/// to zero and of a little less than that farther from it.
TypedElements with_further_bits(TypedElements elements);

/// Makes calls of a transformer and keeps what is wrong with them.
class JudgedCalls {
 public:
  explicit JudgedCalls(const TransformerFunctions& transformer) : transformer_(transformer) {}

  const TransformerFunctions& transformer() const { return transformer_; }
  std::string error_text() const { return transformer_.transform_error(); }

  /// Whether the call returns what it should, and has a text for it only where it refuses.
  bool call(const std::string& what, TransformStatus wanted, const std::function<int()>& function);
  /// The same of a function that says how many bytes are needed, 0 where it refuses.
  bool measure(const std::string& what, std::size_t wanted, const std::function<std::size_t()>& function);

  void add(std::string problem) { problems_.push_back(std::move(problem)); }
  std::vector<std::string> problems() && { return std::move(problems_); }

 private:
  void expect_text(const std::string& what, bool refuses);

  const TransformerFunctions& transformer_;
  std::vector<std::string> problems_;
};

}  // namespace esc
