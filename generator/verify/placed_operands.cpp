// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/placed_operands.h"

#include <cstring>

#include "generator/matrix/typed_elements.h"

namespace esc {

PlacedOperands::PlacedOperands(const LoopNest* nest, std::int64_t rows, const KernelCall& call,
                               const Dispatch& dispatch) {
  if (nest == nullptr) {
    return;
  }
  for (const Operand& operand : draw_operands(*nest, rows, call.width(), call.values)) {
    add(operand, call, dispatch);
  }
}

void PlacedOperands::show_to(EmulatedDevice& device) {
  for (const Placed& one : placed_) {
    registered_.emplace_back(device, one.name, one.matrix->data(), one.matrix->bytes(),
                             BufferUse::input().shared_with_predecessor());
  }
}

void PlacedOperands::add(const Operand& operand, const KernelCall& call, const Dispatch& dispatch) {
  if (operand.rank == 0) {
    arguments_.push_back(number_argument(operand));
    return;
  }
  const TypedElements values(operand.type, operand.elements);
  // A vector over rows is one row, whatever columns are computed; a matrix has its rows apart otherwise than C, but
  // where there is one column: then they are as near as they may be.
  const std::int64_t items = call.product.n;
  const std::int64_t columns = operand.over_columns ? items * call.item_columns : operand.rows;
  const std::int64_t gap = call.product.ldc - dispatch.c.least_leading_dimension(items) + (items == 1 ? 0 : 1);
  const std::int64_t distance = operand.rank == 2 ? operand.layout.least_leading_dimension(items) + gap : columns;
  const MatrixExtents extents{operand.layout, operand.over_columns ? operand.rows : 1,
                              operand.rank == 2 ? items : columns};
  auto matrix = std::make_unique<PlacedMatrix>(extents, distance, 0, operand.type);
  if (!operand.over_columns) {
    std::memcpy(matrix->data(), values.data(), values.bytes().size());
  } else {
    matrix->visit(call, values.bytes().data(), [](std::byte* memory, const std::byte* from, std::size_t bytes) {
      std::memcpy(memory, from, bytes);
    });
  }
  arguments_.emplace_back(static_cast<const void*>(matrix->data()));
  if (operand.rank == 2) {
    arguments_.emplace_back(distance);
  }
  placed_.push_back({"operand " + operand.name, std::move(matrix)});
}

}  // namespace esc
