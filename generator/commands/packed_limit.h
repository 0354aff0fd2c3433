// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/matrix/sparse_matrix.h"

namespace esc {

/// The most bytes that a packed matrix may have: a multiple of those as CSR (8 for a non-zero, 4 for a row), or a share
/// of those of the dense matrix in its own type, in percent.
class PackedLimit {
 public:
  enum class Of { csr, dense };

  PackedLimit(double number, Of of) : number_(number), of_(of) {}

  double ratio() const { return of_ == Of::csr ? number_ : number_ / 100; }
  /// So many bytes of this matrix over those that the limit goes by.
  double ratio_of(double packed_bytes, const SparseMatrix& matrix) const;
  /// As a user writes it: "1.5", or "62%".
  std::string text() const;
  /// Of a ratio: "1.31 of its bytes as CSR", or "56.1 % of its dense bytes".
  std::string describe(double ratio) const;
  /// The option that would allow a ratio, rounded up: "--max-packed 1.32" for 1.3127, "--max-packed 57%" for 0.5612.
  std::string allowance_for(double ratio) const;
  /// What the first schedule within it is said to be: "within 1.5 of CSR", "within 62% of dense".
  std::string within() const;

 private:
  double number_;
  Of of_;
};

/// Reads "1.5" or "62%". Throws UserError for anything else.
PackedLimit parse_packed_limit(const std::string& text);

}  // namespace esc
