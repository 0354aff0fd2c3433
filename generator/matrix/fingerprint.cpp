// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/fingerprint.h"

#include <array>
#include <bit>
#include <cstdint>

#include "generator/matrix/sha256.h"
#include "generator/matrix/typed_elements.h"

namespace esc {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are summed as they lie in memory");

}  // namespace

Fingerprint fingerprint(const SparseMatrix& matrix) {
  Sha256 pattern;
  const std::array<std::int64_t, 3> shape{matrix.rows, matrix.columns, matrix.nonzeros()};
  pattern.add(std::as_bytes(std::span(shape)));
  pattern.add(std::as_bytes(std::span(matrix.offsets)));
  pattern.add(std::as_bytes(std::span(matrix.column_of)));
  return {pattern.hex(), sha256_hex(TypedElements(matrix.element, matrix.values).bytes())};
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256 sum;
  sum.add(bytes);
  return sum.hex();
}

std::string sha256_of_text(std::string_view text) { return sha256_hex(std::as_bytes(std::span(text))); }

}  // namespace esc
