// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/gpu_product.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "generator/verify/device_operands.h"
#include "generator/verify/matrix_image.h"
#include "generator/verify/poison.h"

namespace esc {
namespace {

/// Device memory for a matrix from its first element to its last, and what lies before it.
class PlacedOnDevice {
 public:
  PlacedOnDevice(const CudaRuntime& runtime, std::size_t shift, std::size_t bytes)
      : runtime_(runtime), shift_(shift), bytes_(bytes), memory_(runtime, shift + bytes) {}

  void* first() const { return static_cast<std::byte*>(memory_.get()) + shift_; }
  void take(const void* from) const { runtime_.copy_to_device(first(), from, bytes_); }
  void take_late(const void* from, LateWrites& writes) const {
    writes.add(first(), {static_cast<const std::byte*>(from), bytes_});
  }
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
  GpuProduct result{poisoned_c(kernel.rows, call.compact(), b.type()), {}};
  with_element(b.type(), [&](auto zero) {
    using Element = decltype(zero);
    const std::int64_t columns = static_cast<std::int64_t>(b.size()) / call.width();
    MatrixImage<Element> image_b(kernel.dispatch.b, columns, call.width(), product.ldb,
                                 static_cast<Element>(std::numeric_limits<double>::quiet_NaN()));
    MatrixImage<Element> image_c(kernel.dispatch.c, kernel.rows, call.width(), product.ldc, poison<Element>());
    image_b.visit(b.elements<Element>(), [](Element& place, const Element& value) { place = value; });
    const auto placed = [&](const MatrixImage<Element>& image, int shift) {
      return PlacedOnDevice(kernel.runtime, static_cast<std::size_t>(shift) * sizeof(Element), image.bytes());
    };
    const PlacedOnDevice placed_b = placed(image_b, product.shift_b);
    const PlacedOnDevice placed_c = placed(image_c, product.shift_c);
    const PlacedOnDevice placed_packed(kernel.runtime, static_cast<std::size_t>(call.shift_packed),
                                       kernel.packed.size());
    LateWrites writes(kernel.runtime);
    placed_b.take_late(image_b.elements().data(), writes);
    placed_c.take_late(image_c.elements().data(), writes);
    placed_packed.take(kernel.packed.data());
    std::optional<DeviceOperands> operands;
    if (kernel.input != nullptr) {
      operands.emplace(kernel.runtime, *kernel.input, kernel.rows, call.width(), call.values, writes);
    }
    void* const stream = call.default_stream ? nullptr : kernel.stream.get();
    if (const int status = writes.launch(kernel.predecessor, stream); status != 0) {
      result.problem = "the kernel before: " + kernel.runtime.error_text(status);
      return;
    }

    const int status = kernel.functions.spmm({.packed = placed_packed.first(),
                                              .b = placed_b.first(),
                                              .ldb = product.ldb,
                                              .c = placed_c.first(),
                                              .ldc = product.ldc,
                                              .operands = operands ? operands->arguments() : std::vector<CArgument>(),
                                              .n = product.n,
                                              .stream = stream});
    const std::string fault = kernel.runtime.synchronize();
    result.problem = status != 0 ? kernel.runtime.error_text(status) : fault;
    if (!result.problem.empty()) {
      return;
    }
    placed_c.give(image_c.elements().data());
    image_c.visit(result.c.elements<Element>(),
                  [](Element& place, Element& found) { found = std::exchange(place, poison<Element>()); });
    if (!std::ranges::all_of(image_c.elements(), [](Element element) { return is_poison(element); })) {
      result.problem = "something was written between elements of C";
    }
  });
  return result;
}

GpuProduct gpu_unpacking(const KernelOnGpu& kernel, const KernelCall& call, ScalarType element) {
  GpuProduct result{poisoned_c(kernel.rows, call.compact(), element), {}};
  with_element(element, [&](auto zero) {
    using Element = decltype(zero);
    const PlacedLayout in_rows;
    MatrixImage<Element> image(in_rows, kernel.rows, call.product.n, call.product.ldc, poison<Element>());
    const PlacedOnDevice a(kernel.runtime, static_cast<std::size_t>(call.product.shift_c) * sizeof(Element),
                           image.bytes());
    const PlacedOnDevice packed(kernel.runtime, 0, kernel.packed.size());
    a.take(image.elements().data());
    packed.take(kernel.packed.data());
    const int status = kernel.functions.unpack({packed.first(), a.first(), call.product.ldc, kernel.stream.get()});
    const std::string fault = kernel.runtime.synchronize();
    result.problem = status != 0 ? kernel.runtime.error_text(status) : fault;
    if (!result.problem.empty()) {
      return;
    }
    a.give(image.elements().data());
    image.visit(result.c.elements<Element>(),
                [](Element& place, Element& found) { found = std::exchange(place, poison<Element>()); });
    if (!std::ranges::all_of(image.elements(), [](Element between) { return is_poison(between); })) {
      result.problem = "something was written between rows of A";
    }
  });
  return result;
}

GpuProduct gpu_repacking(const KernelOnGpu& kernel, const KernelCall& call, const TypedElements& a) {
  GpuProduct result{TypedElements(a.type(), kernel.packed.size() / static_cast<std::size_t>(bytes_of(a.type()))), {}};
  with_element(a.type(), [&](auto zero) {
    using Element = decltype(zero);
    const PlacedLayout in_rows;
    MatrixImage<Element> image(in_rows, kernel.rows, call.product.n, call.product.ldc, poison<Element>());
    image.visit(a.elements<Element>(), [](Element& place, const Element& value) { place = value; });
    const PlacedOnDevice placed_a(kernel.runtime, static_cast<std::size_t>(call.product.shift_c) * sizeof(Element),
                                  image.bytes());
    const PlacedOnDevice packed(kernel.runtime, 0, kernel.packed.size());
    placed_a.take(image.elements().data());
    packed.take(kernel.packed.data());
    const int status =
        kernel.functions.values({packed.first(), placed_a.first(), call.product.ldc, kernel.stream.get()});
    const std::string fault = kernel.runtime.synchronize();
    result.problem = status != 0 ? kernel.runtime.error_text(status) : fault;
    if (result.problem.empty()) {
      packed.give(result.c.data());
    }
  });
  return result;
}

}  // namespace esc
