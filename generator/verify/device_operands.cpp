#include "generator/verify/device_operands.h"

#include <utility>

#include "generator/matrix/typed_elements.h"
#include "generator/verify/matrix_image.h"
#include "generator/verify/operands.h"

namespace esc {
namespace {

std::int64_t leading_dimension(const Operand& operand) {
  return operand.layout.least_leading_dimension(operand.columns / operand.layout.columns_of_item());
}

/// The elements in the order in which they lie in memory.
std::vector<double> in_memory(const Operand& operand) {
  MatrixImage<double> image(operand.layout, operand.rows, operand.columns, leading_dimension(operand), 0);
  image.visit(operand.elements.data(), [](double& place, double value) { place = value; });
  return std::move(image.elements());
}

}  // namespace

DeviceOperands::DeviceOperands(const CudaRuntime& runtime, const LoopNest& nest, std::int64_t rows, std::int64_t n, LateWrites& writes) {
  for (const Operand& operand : draw_operands(nest, rows, n)) {
    if (operand.rank == 0) {
      arguments_.push_back(number_argument(operand));
      continue;
    }
    const TypedElements values(operand.type, in_memory(operand));
    const DeviceBuffer& buffer = buffers_.emplace_back(runtime, values.bytes().size());
    writes.add(buffer.get(), values.bytes());
    arguments_.emplace_back(static_cast<const void*>(buffer.get()));
    if (operand.rank == 2) {
      arguments_.emplace_back(leading_dimension(operand));
    }
  }
}

}  // namespace esc
