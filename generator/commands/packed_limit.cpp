// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/packed_limit.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "generator/matrix/statistics.h"
#include "generator/support/error.h"
#include "generator/support/number_in.h"

namespace esc {

double PackedLimit::ratio_of(double packed_bytes, const SparseMatrix& matrix) const {
  const double dense =
      static_cast<double>(matrix.rows) * static_cast<double>(matrix.columns) * bytes_of(matrix.element);
  return packed_bytes / (of_ == Of::csr ? static_cast<double>(csr_bytes(matrix)) : dense);
}

std::string PackedLimit::text() const { return fmt::format("{}{}", number_, of_ == Of::csr ? "" : "%"); }

std::string PackedLimit::describe(double ratio) const {
  return of_ == Of::csr ? fmt::format("{:.2f} of its bytes as CSR", ratio)
                        : fmt::format("{:.1f} % of its dense bytes", 100 * ratio);
}

std::string PackedLimit::allowance_for(double ratio) const {
  const double hundredths = std::ceil(100 * ratio);
  return of_ == Of::csr ? fmt::format("--max-packed {:.2f}", hundredths / 100)
                        : fmt::format("--max-packed {:.0f}%", hundredths);
}

std::string PackedLimit::within() const {
  return fmt::format("within {} of {}", text(), of_ == Of::csr ? "CSR" : "dense");
}

PackedLimit parse_packed_limit(const std::string& text) {
  const bool is_share = text.ends_with('%');
  const std::optional<double> number = real_in(is_share ? text.substr(0, text.size() - 1) : text);
  if (!number || !(*number > 0 && std::isfinite(*number))) {
    throw UserError(
        "--max-packed " + text, "is neither a ratio above 0 nor a percentage",
        "give the most bytes of the packed matrix over those as CSR, such as 1.5, or over the dense ones, such as 62%");
  }
  return {*number, is_share ? PackedLimit::Of::dense : PackedLimit::Of::csr};
}

}  // namespace esc
