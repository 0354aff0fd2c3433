// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/kernel_to_emulate.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace esc {

std::optional<int> call_spmm(EmulatedDevice& device, const KernelToEmulate& kernel, const ProductArguments& arguments) {
  void* const function = kernel.program.symbol(kernel.name + "_spmm");
  return device.call(kernel.program, [&] { return call_product(function, arguments); });
}

std::optional<int> call_unpack(EmulatedDevice& device, const KernelToEmulate& kernel, UnpackFunction function,
                               const UnpackArguments& given) {
  const std::string name = kernel.name + "_" + name_of(function);
  return function == UnpackFunction::unpack ? device.call<int(const void*, void*, std::int64_t, void*)>(
                                                  kernel.program, name, given.packed, given.a, given.lda, given.stream)
                                            : device.call<int(const void*, std::int64_t, void*, void*)>(
                                                  kernel.program, name, given.a, given.lda, given.packed, given.stream);
}

void take_faults(const EmulatedDevice& device, std::vector<std::string>& problems) {
  std::ranges::move(messages_of(device.faults()), std::back_inserter(problems));
}

}  // namespace esc
