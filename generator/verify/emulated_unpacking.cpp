// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/emulated_unpacking.h"

#include <fmt/format.h>

#include <cstring>

#include "generator/emulate/registered_buffer.h"
#include "generator/verify/placed_matrix.h"
#include "generator/verify/poison.h"

namespace esc {
namespace {

/// What the caller's stream is.
const char own_stream = 0;

EmulationOptions circumstances_of(const KernelToEmulate& kernel, const KernelCall& call,
                                  const EmulationOptions& options, void* stream, std::vector<std::string>& problems) {
  EmulationOptions circumstances = options;
  circumstances.stream = stream;
  circumstances.properties.compute_major = call.compute_major;
  circumstances.properties.compute_minor = call.compute_minor;
  circumstances.shuffle_seed = call.order ? call.order : options.shuffle_seed;
  circumstances.before_launch = [&kernel, &problems](const LaunchInfo& launch) {
    if (!launch.kernel.ends_with("::" + kernel.name + "_unpack_kernel")) {
      problems.push_back(fmt::format("{} is launched", launch.kernel));
    }
    if (launch.programmatic) {
      problems.push_back(fmt::format("{} is launched with the leave to begin early", launch.kernel));
    }
  };
  return circumstances;
}

}  // namespace

EmulatedProduct emulate_unpacking(EmulatedDevice& device, const KernelToEmulate& kernel, const KernelCall& call,
                                  ScalarType element, const EmulationOptions& options,
                                  const std::vector<bool>& compared) {
  const PlacedLayout in_rows;
  const PlacedMatrix a({in_rows, kernel.rows, call.product.n}, call.product.ldc, call.product.shift_c, element,
                       compared);
  const PlacedBytes packed(kernel.packed, call.shift_packed);
  EmulatedProduct result{.c = poisoned_c(a.visited_rows(), call.compact(), element), .problems = {}};
  a.visit(call, result.c.bytes().data(),
          [](std::byte* memory, const std::byte* from, std::size_t bytes) { std::memcpy(memory, from, bytes); });
  with_element(element, [&](auto zero) {
    using Element = decltype(zero);
    a.visit_gaps<Element>(call, [](std::int64_t, std::size_t, Element& between) { between = poison<Element>(); });
  });
  void* const stream = call.default_stream ? nullptr : const_cast<char*>(&own_stream);
  device.set_options(circumstances_of(kernel, call, options, stream, result.problems));
  const RegisteredBuffer out_a(device, "A", a.data(), a.bytes(), BufferUse::output());
  const RegisteredBuffer in_packed(device, "packed", packed.span().data(), packed.span().size(), BufferUse::input());
  if (device.call<int()>(kernel.program, kernel.name + "_prepare") != 0) {
    result.problems.emplace_back("the kernels cannot be prepared");
  }
  const int status =
      call_unpack(device, kernel,
                  {.packed = packed.span().data(), .a = a.data(), .lda = call.product.ldc, .stream = stream})
          .value_or(stopped_by_fault);
  take_faults(device, result.problems);
  device.forget_faults();
  if (status != 0) {
    result.problems.push_back(fmt::format("the launch returns error {}", status));
  }
  a.visit(call, result.c.bytes().data(),
          [](const std::byte* memory, std::byte* to, std::size_t bytes) { std::memcpy(to, memory, bytes); });
  with_element(element, [&](auto zero) {
    using Element = decltype(zero);
    a.visit_gaps<Element>(call, [&](std::int64_t row, std::size_t column, const Element& between) {
      if (!is_poison(between) && result.problems.empty()) {
        result.problems.push_back(
            fmt::format("A[{}][{}], behind the {} columns, was written", row, column, call.product.n));
      }
    });
  });
  return result;
}

}  // namespace esc
