#include "generator/verify/gpu_product.h"

#include <optional>

#include "generator/verify/device_operands.h"

namespace esc {
namespace {

/// Device memory for a matrix from its first element to its last, and what lies in front of it.
class PlacedOnDevice {
 public:
  PlacedOnDevice(const CudaRuntime& runtime, std::size_t shift, std::size_t bytes)
      : runtime_(runtime), shift_(shift), bytes_(bytes), memory_(runtime, shift + bytes) {}

  void* first() const { return static_cast<std::byte*>(memory_.get()) + shift_; }
  void take(const void* from) const { runtime_.copy_to_device(first(), from, bytes_); }
  void give(void* to) const { runtime_.copy_to_host(to, first(), bytes_); }

 private:
  const CudaRuntime& runtime_;
  std::size_t shift_;
  std::size_t bytes_;
  DeviceBuffer memory_;
};

}  // namespace

GpuProduct gpu_product(const KernelOnGpu& kernel, const KernelCall& call, const TypedElements& b) {
  const ProductCase& product = call.product;
  const auto element = static_cast<std::size_t>(bytes_of(b.type()));
  const std::int64_t columns = static_cast<std::int64_t>(b.size()) / product.ldb;
  const auto placed = [&](std::int64_t rows, std::int64_t leading_dimension, int shift) {
    return PlacedOnDevice(kernel.runtime, static_cast<std::size_t>(shift) * element,
                          static_cast<std::size_t>((rows - 1) * leading_dimension + product.n) * element);
  };
  const PlacedOnDevice placed_b = placed(columns, product.ldb, product.shift_b);
  const PlacedOnDevice placed_c = placed(kernel.rows, product.ldc, product.shift_c);
  const PlacedOnDevice placed_packed(kernel.runtime, static_cast<std::size_t>(call.shift_packed), kernel.packed.size());
  GpuProduct result{poisoned_c(kernel.rows, product, b.type()), {}};
  placed_b.take(b.data());
  placed_c.take(result.c.data());
  placed_packed.take(kernel.packed.data());
  std::optional<DeviceOperands> operands;
  if (kernel.input != nullptr) {
    operands.emplace(kernel.runtime, *kernel.input, kernel.rows, product.n);
  }
  // Copies from memory that is not pinned may still be under way on the default stream.
  static_cast<void>(kernel.runtime.synchronize());

  const int status = kernel.functions.spmm({.packed = placed_packed.first(),
                                            .b = placed_b.first(),
                                            .ldb = product.ldb,
                                            .c = placed_c.first(),
                                            .ldc = product.ldc,
                                            .operands = operands ? operands->arguments() : std::vector<CArgument>(),
                                            .n = product.n,
                                            .stream = call.default_stream ? nullptr : kernel.stream.get()});
  const std::string fault = kernel.runtime.synchronize();
  result.problem = status != 0 ? kernel.runtime.error_text(status) : fault;
  if (result.problem.empty()) {
    placed_c.give(result.c.data());
  }
  return result;
}

}  // namespace esc
