// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "generator/matrix/sparse_matrix.h"

namespace esc {

/// What a matrix is known by: two SHA-256 sums, each as 64 lower-case hexadecimal digits.
///
/// `pattern` is the sum of these little-endian numbers one after another: rows, columns, non-zeros as int64; the
/// rows + 1 offsets as int64; the column indices as int32. `values` is the sum of the values as float32 or float64, row
/// by row. Neither depends on the file format that the matrix was read from.
struct Fingerprint {
  std::string pattern;
  std::string values;

  bool operator==(const Fingerprint&) const = default;
};

Fingerprint fingerprint(const SparseMatrix& matrix);

/// SHA-256 of `bytes` as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::span<const std::byte> bytes);
/// The same of the bytes of a text.
std::string sha256_of_text(std::string_view text);

}  // namespace esc
