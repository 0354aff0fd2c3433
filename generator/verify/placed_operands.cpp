#include "generator/verify/placed_operands.h"

#include <cstring>

#include "generator/matrix/typed_elements.h"

namespace esc {

PlacedOperands::PlacedOperands(const LoopNest* nest, std::int64_t rows, const KernelCall& call) {
  if (nest == nullptr) {
    return;
  }
  for (const Operand& operand : draw_operands(*nest, rows, call.width())) {
    add(operand, call);
  }
}

void PlacedOperands::show_to(EmulatedDevice& device) {
  for (const Placed& one : placed_) {
    registered_.emplace_back(device, one.name, one.matrix->data(), one.matrix->bytes(), BufferUse::input().shared_with_predecessor());
  }
}

void PlacedOperands::add(const Operand& operand, const KernelCall& call) {
  const TypedElements values(operand.type, operand.elements);
  if (operand.rank == 0) {
    arguments_.push_back(with_element(operand.type, [&](auto zero) { return CArgument(values.elements<decltype(zero)>()[0]); }));
    return;
  }
  // Rows that are not as far apart as those of C.
  const bool over_columns = operand.over_columns;
  const std::int64_t columns = over_columns ? call.product.n : 1;
  const std::int64_t distance = operand.rank == 2 ? call.product.ldc + 1 : columns;
  const bool by_row = !over_columns;
  auto matrix = by_row ? std::make_unique<PlacedMatrix>(1, operand.rows, operand.rows, 0, operand.type)
                       : std::make_unique<PlacedMatrix>(operand.rows, columns, distance, 0, operand.type);
  if (by_row) {
    std::memcpy(matrix->data(), values.data(), values.bytes().size());
  } else {
    matrix->visit(call, values.bytes().data(),
                  [](std::byte* memory, const std::byte* from, std::size_t bytes) { std::memcpy(memory, from, bytes); });
  }
  arguments_.emplace_back(static_cast<const void*>(matrix->data()));
  if (operand.rank == 2) {
    arguments_.emplace_back(distance);
  }
  placed_.push_back({"operand " + operand.name, std::move(matrix)});
}

}  // namespace esc
