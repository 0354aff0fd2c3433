// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/kernel_to_emulate.h"

#include <algorithm>
#include <iterator>

namespace esc {

std::optional<int> call_spmm(EmulatedDevice& device, const KernelToEmulate& kernel, const ProductArguments& arguments) {
  void* const function = kernel.program.symbol(kernel.name + "_spmm");
  return device.call(kernel.program, [&] { return call_product(function, arguments); });
}

std::optional<int> call_unpack(EmulatedDevice& device, const KernelToEmulate& kernel, const UnpackArguments& arguments) {
  return device.call<int(const void*, void*, std::int64_t, void*)>(kernel.program, kernel.name + "_unpack", arguments.packed, arguments.a, arguments.lda,
                                                                   arguments.stream);
}

void take_faults(const EmulatedDevice& device, std::vector<std::string>& problems) {
  std::ranges::move(messages_of(device.faults()), std::back_inserter(problems));
}

}  // namespace esc
