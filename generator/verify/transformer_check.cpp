#include "generator/verify/transformer_check.h"

#include <fmt/format.h>

#include <limits>
#include <optional>

namespace esc {
namespace {

std::vector<std::int32_t> narrow(const std::vector<std::int64_t>& offsets) {
  return std::vector<std::int32_t>(offsets.begin(), offsets.end());
}

/// The columns of the matrix with one non-zero in another place, or nothing when every row is empty or full.
std::optional<std::vector<std::int32_t>> with_moved_nonzero(const SparseMatrix& matrix) {
  for (std::size_t row = 0; row + 1 < matrix.offsets.size(); ++row) {
    const std::int64_t last = matrix.offsets[row + 1];
    for (std::int64_t entry = matrix.offsets[row]; entry < last; ++entry) {
      const auto at = static_cast<std::size_t>(entry);
      const std::int64_t next = entry + 1 < last ? matrix.column_of[at + 1] : matrix.columns;
      if (matrix.column_of[at] + 1 < next) {
        std::vector<std::int32_t> moved = matrix.column_of;
        ++moved[at];
        return moved;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

TypedElements dense_elements(const SparseMatrix& matrix) {
  TypedElements a(matrix.element, static_cast<std::size_t>(matrix.rows * matrix.columns));
  with_element(matrix.element, [&](auto zero) {
    auto* const elements = a.elements<decltype(zero)>();
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      for (std::int64_t entry = matrix.offsets[static_cast<std::size_t>(row)];
           entry < matrix.offsets[static_cast<std::size_t>(row) + 1]; ++entry) {
        const auto at = static_cast<std::size_t>(entry);
        elements[row * matrix.columns + matrix.column_of[at]] = static_cast<decltype(zero)>(matrix.values[at]);
      }
    }
  });
  return a;
}

TransformCheck check_transformer(const TransformerFunctions& transformer, const SparseMatrix& matrix,
                                 std::int64_t most_dense_elements) {
  TransformCheck check{std::vector<std::byte>(transformer.packed_bytes()), {}};
  if (matrix.nonzeros() > std::numeric_limits<std::int32_t>::max()) {
    check.problems.push_back("the matrix has more non-zeros than the CSR interface can take");
    return check;
  }
  const std::vector<std::int32_t> offsets = narrow(matrix.offsets);
  const TypedElements values(matrix.element, matrix.values);
  if (transformer.transform_csr(offsets.data(), matrix.column_of.data(), values.data(), check.packed.data()) != 0) {
    check.problems.push_back(fmt::format("the transformer refuses its own matrix: {}", transformer.transform_error()));
    return check;
  }
  std::vector<std::byte> other(check.packed.size());
  if (matrix.rows * matrix.columns <= most_dense_elements) {
    const TypedElements a = dense_elements(matrix);
    if (transformer.transform(a.data(), matrix.columns, other.data()) != 0) {
      check.problems.push_back(fmt::format("the transformer refuses its own dense matrix: {}", transformer.transform_error()));
    } else if (other != check.packed) {
      check.problems.push_back("the transformer packs a dense matrix otherwise than the same matrix as CSR");
    }
  }
  if (const std::optional<std::vector<std::int32_t>> moved = with_moved_nonzero(matrix)) {
    if (transformer.transform_csr(offsets.data(), moved->data(), values.data(), other.data()) == 0) {
      check.problems.push_back("the transformer accepts a matrix with a non-zero in another place");
    }
  }
  return check;
}

}  // namespace esc
