#include "generator/verify/device_operands.h"

#include "generator/matrix/typed_elements.h"
#include "generator/verify/operands.h"

namespace esc {

namespace {

std::int64_t leading_dimension(const Operand& operand) {
  return operand.layout.least_leading_dimension(operand.columns / operand.layout.columns_of_item());
}

/// The elements in the order in which they lie in memory.
std::vector<double> in_memory(const Operand& operand) {
  if (operand.rank != 2 || operand.layout.is_row_major()) {
    return operand.elements;
  }
  std::vector<double> placed(operand.elements.size());
  for (std::int64_t row = 0; row < operand.rows; ++row) {
    for (std::int64_t column = 0; column < operand.columns; ++column) {
      const auto place = operand.layout.offset(row, column, leading_dimension(operand));
      placed[static_cast<std::size_t>(place.value())] = operand.at(row, column);
    }
  }
  return placed;
}

}  // namespace

DeviceOperands::DeviceOperands(const CudaRuntime& runtime, const LoopNest& nest, std::int64_t rows, std::int64_t n) {
  for (const Operand& operand : draw_operands(nest, rows, n)) {
    if (operand.rank == 0) {
      arguments_.push_back(number_argument(operand));
      continue;
    }
    const TypedElements values(operand.type, in_memory(operand));
    const DeviceBuffer& buffer = buffers_.emplace_back(runtime, values.bytes().size());
    runtime.copy_to_device(buffer.get(), values.data(), values.bytes().size());
    arguments_.emplace_back(static_cast<const void*>(buffer.get()));
    if (operand.rank == 2) {
      arguments_.emplace_back(leading_dimension(operand));
    }
  }
}

}  // namespace esc
