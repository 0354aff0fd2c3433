// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "generator/matrix/byte_source.h"
#include "generator/matrix/read_options.h"
#include "generator/matrix/sparse_matrix.h"

namespace esc {

/// How a number lies in a file, little-endian.
enum class StoredElement { float16, bfloat16, float32, float64 };

constexpr std::size_t bytes_of(StoredElement element) {
  return element == StoredElement::float32 ? 4 : element == StoredElement::float64 ? 8 : 2;
}

/// A matrix of which a source has every element.
struct DenseArray {
  StoredElement element = StoredElement::float32;
  bool is_fortran_order = false;  ///< column after column instead of row after row
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::uint64_t skipped = 0;  ///< bytes of the source before the first element
  std::optional<std::uint64_t> first_byte =
      0;  ///< what messages call the byte that the first element starts at; none: elements have no bytes of their own

  std::size_t element_bytes() const { return bytes_of(element); }
};

/// Reads the non-zeros of the array, rounded to float32 unless float64 is asked for. The source is read twice, so that
/// no more memory is taken than the sparse matrix needs. Throws UserError with the byte when a value is not finite or
/// not within float32.
SparseMatrix read_dense(ByteSource& source, const DenseArray& array, const ReadOptions& options);

/// Refuses `source` at a byte.
[[noreturn]] void refuse_at_byte(const ByteSource& source, std::uint64_t byte, const std::string& rule,
                                 const std::string& remedy);

}  // namespace esc
