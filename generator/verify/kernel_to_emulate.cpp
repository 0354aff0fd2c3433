#include "generator/verify/kernel_to_emulate.h"

namespace esc {

std::optional<int> call_spmm(EmulatedDevice& device, const KernelToEmulate& kernel, const ProductArguments& arguments) {
  void* const function = kernel.program.symbol(kernel.name + "_spmm");
  return device.call(kernel.program, [&] { return call_product(function, arguments); });
}

void take_faults(const EmulatedDevice& device, std::vector<std::string>& problems) {
  for (const EmulationFault& fault : device.faults()) {
    problems.push_back(fault.message);
  }
}

}  // namespace esc
