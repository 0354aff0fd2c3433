#include "generator/verify/emulated_product.h"

#include <fmt/format.h>

#include <cstring>

namespace esc {
namespace {

constexpr int stopped_by_fault = -1;

}  // namespace

EmulatedProduct emulate_product(const KernelToEmulate& kernel, const ProductCase& product, const TypedElements& b,
                                const EmulationOptions& options) {
  EmulatedDevice device(options);
  EmulatedProduct result{.c = poisoned_c(kernel.rows, product, b.type()), .problems = {}};
  const auto shift_b = static_cast<std::size_t>(product.shift_b * bytes_of(b.type()));
  const auto shift_c = static_cast<std::size_t>(product.shift_c * bytes_of(b.type()));
  const std::span<std::byte> device_b =
      device.allocate("B", b.bytes().size() + shift_b, BufferUse::input());
  const std::span<std::byte> device_c =
      device.allocate("C", result.c.bytes().size() + shift_c, BufferUse::output());
  device.add_buffer("packed", kernel.packed.data(), kernel.packed.size(), BufferUse::input());
  void* const first_b = device_b.data() + shift_b;
  void* const first_c = device_c.data() + shift_c;
  std::memcpy(first_b, b.data(), b.bytes().size());
  std::memcpy(first_c, result.c.data(), result.c.bytes().size());

  if (device.call<int()>(kernel.program, kernel.name + "_prepare") != 0) {
    result.problems.emplace_back("the kernels cannot be prepared");
  }
  const int status = device
                         .call<int(const void*, const void*, std::int64_t, void*, std::int64_t, std::int32_t, void*)>(
                             kernel.program, kernel.name + "_spmm", static_cast<const void*>(kernel.packed.data()),
                             static_cast<const void*>(first_b), product.ldb, first_c, product.ldc, product.n, nullptr)
                         .value_or(stopped_by_fault);
  for (const EmulationFault& fault : device.faults()) {
    result.problems.push_back(fault.message);
  }
  if (status != 0) {
    result.problems.push_back(fmt::format("the launch returns error {}", status));
  }
  std::memcpy(result.c.data(), first_c, result.c.bytes().size());
  return result;
}

}  // namespace esc
