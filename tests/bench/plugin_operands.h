// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "generator/matrix/sparse_matrix.h"
#include "generator/matrix/typed_elements.h"
#include "tests/bench/peer_plugin_interface.h"

namespace esc::bench {

/// The bit of the interface for elements of this type, as they lie in memory; 0 where it has none.
std::uint32_t plugin_element(ScalarType element);

/// Why a library with these kernels gets no operands for the matrix; empty where it gets them.
std::string plugin_problem(const esc_peer& kernels, const SparseMatrix& matrix);

/// A as the interface gives it to a library.
class PluginOperands {
 public:
  /// There is no problem with the matrix, which need not outlive this object.
  PluginOperands(const esc_peer& kernels, const SparseMatrix& matrix, std::int64_t n);

  /// Points into this object.
  esc_peer_product product() const;
  std::size_t value_bytes() const { return values_.bytes().size(); }

 private:
  std::int64_t rows_;
  std::int64_t columns_;
  std::int64_t n_;
  std::vector<std::int32_t> offsets_;
  std::vector<std::int32_t> column_of_;
  TypedElements values_;
  std::optional<TypedElements> dense_;
};

}  // namespace esc::bench
