// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/device_operands.h"

#include "generator/matrix/typed_elements.h"
#include "generator/verify/operand_image.h"

namespace esc {

DeviceOperands::DeviceOperands(const CudaRuntime& runtime, const LoopNest& nest, std::int64_t rows, std::int64_t n,
                               const ValueDraw& values, LateWrites& writes) {
  for (const Operand& operand : draw_operands(nest, rows, n, values)) {
    if (operand.rank == 0) {
      arguments_.push_back(number_argument(operand));
      continue;
    }
    const TypedElements elements(operand.type, in_memory(operand));
    const DeviceBuffer& buffer = buffers_.emplace_back(runtime, elements.bytes().size());
    writes.add(buffer.get(), elements.bytes());
    arguments_.emplace_back(static_cast<const void*>(buffer.get()));
    if (operand.rank == 2) {
      arguments_.emplace_back(leading_dimension(operand));
    }
  }
}

}  // namespace esc
