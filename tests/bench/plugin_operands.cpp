// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/plugin_operands.h"

#include <fmt/format.h>

#include <limits>

#include "generator/verify/transformer_check.h"
#include "tuner/gpu/dense_limit.h"

namespace esc::bench {

std::uint32_t plugin_element(ScalarType element) {
  switch (memory_type(element)) {
    case ScalarType::f32:
      return ESC_PEER_F32;
    case ScalarType::f16:
      return ESC_PEER_F16;
    case ScalarType::bf16:
      return ESC_PEER_BF16;
    default:
      return 0;
  }
}

std::string plugin_problem(const esc_peer& kernels, const SparseMatrix& matrix) {
  if ((kernels.elements & plugin_element(matrix.element)) == 0) {
    return fmt::format("it does not take elements of {}", name_of(memory_type(matrix.element)));
  }
  if (matrix.nonzeros() > std::numeric_limits<std::int32_t>::max()) {
    return fmt::format("{} non-zeros are more than indices of 32 bits count", matrix.nonzeros());
  }
  return kernels.wants_dense != 0 ? gpu::dense_problem(matrix) : "";
}

PluginOperands::PluginOperands(const esc_peer& kernels, const SparseMatrix& matrix, std::int64_t n)
    : rows_(matrix.rows),
      columns_(matrix.columns),
      n_(n),
      offsets_(matrix.offsets.begin(), matrix.offsets.end()),
      column_of_(matrix.column_of),
      values_(matrix.element, matrix.values) {
  if (kernels.wants_dense != 0) {
    dense_ = dense_elements(matrix);
  }
}

esc_peer_product PluginOperands::product() const {
  return {.m = rows_,
          .k = columns_,
          .n = n_,
          .nonzeros = static_cast<std::int64_t>(column_of_.size()),
          .element = plugin_element(values_.type()),
          .offsets = offsets_.data(),
          .columns = column_of_.data(),
          .values = values_.data(),
          .dense = dense_ ? dense_->data() : nullptr};
}

}  // namespace esc::bench
