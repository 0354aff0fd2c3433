// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/emulated_unpacking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "generator/emulate/registered_buffer.h"
#include "generator/verify/placed_matrix.h"
#include "generator/verify/poison.h"

namespace esc {
namespace {

/// What the caller's stream is.
const char own_stream = 0;

/// `fills_in_front` is to be the number of fills before the kernel.
EmulationOptions circumstances_of(EmulatedDevice& device, const KernelToEmulate& kernel, UnpackFunction function,
                                  const KernelCall& call, const EmulationOptions& options, void* stream,
                                  std::uint64_t& fills_in_front, std::vector<std::string>& problems) {
  EmulationOptions circumstances = options;
  circumstances.stream = stream;
  circumstances.properties.compute_major = call.compute_major;
  circumstances.properties.compute_minor = call.compute_minor;
  circumstances.shuffle_seed = call.order ? call.order : options.shuffle_seed;
  const std::string expected = fmt::format("::{}_{}_kernel", kernel.name, name_of(function));
  circumstances.before_launch = [expected, &device, &fills_in_front, &problems](const LaunchInfo& launch) {
    fills_in_front = device.counters().fills;
    if (!launch.kernel.ends_with(expected)) {
      problems.push_back(fmt::format("{} is launched", launch.kernel));
    }
    if (launch.programmatic) {
      problems.push_back(fmt::format("{} is launched with the leave to begin early", launch.kernel));
    }
  };
  return circumstances;
}

/// A, and what it is packed to.
struct Operands {
  Operands(const KernelToEmulate& kernel, const KernelCall& call, ScalarType element, const std::vector<bool>& compared)
      : a({in_rows, kernel.rows, call.product.n}, call.product.ldc, call.product.shift_c, element, compared),
        packed(kernel.packed, call.shift_packed) {
    with_element(element, [&](auto zero) {
      using Element = decltype(zero);
      a.visit_gaps<Element>(call, [](std::int64_t, std::size_t, Element& between) { between = poison<Element>(); });
    });
  }

  /// Sets the rows of A that are looked at.
  void take(const KernelCall& call, const TypedElements& rows) const {
    a.visit(call, rows.bytes().data(),
            [](std::byte* memory, const std::byte* from, std::size_t bytes) { std::memcpy(memory, from, bytes); });
  }

  PlacedLayout in_rows;
  PlacedMatrix a;
  PlacedBytes packed;
};

/// Makes the call, and says what goes wrong.
void make_call(EmulatedDevice& device, const KernelToEmulate& kernel, UnpackFunction function, const KernelCall& call,
               const Operands& operands, const EmulationOptions& options, std::vector<std::string>& problems) {
  const bool unpacks = function == UnpackFunction::unpack;
  void* const stream = call.default_stream ? nullptr : const_cast<char*>(&own_stream);
  std::uint64_t fills_in_front = 0;
  device.set_options(circumstances_of(device, kernel, function, call, options, stream, fills_in_front, problems));
  const RegisteredBuffer own_a(device, "A", operands.a.data(), operands.a.bytes(),
                               unpacks ? BufferUse::output() : BufferUse::input());
  const RegisteredBuffer own_packed(device, "packed", operands.packed.span().data(), operands.packed.span().size(),
                                    unpacks ? BufferUse::input() : BufferUse::update());
  if (device.call<int()>(kernel.program, kernel.name + "_prepare") != 0) {
    problems.emplace_back("the kernels cannot be prepared");
  }
  const int status =
      call_unpack(
          device, kernel, function,
          {.packed = operands.packed.span().data(), .a = operands.a.data(), .lda = call.product.ldc, .stream = stream})
          .value_or(stopped_by_fault);
  take_faults(device, problems);
  device.forget_faults();
  if (status != 0) {
    problems.push_back(fmt::format("the launch returns error {}", status));
  }
  if (!unpacks && device.counters().fills == fills_in_front) {
    problems.emplace_back("no fill is after the kernel, so that products after it may begin before it has ended");
  }
}

}  // namespace

EmulatedProduct emulate_unpacking(EmulatedDevice& device, const KernelToEmulate& kernel, const KernelCall& call,
                                  ScalarType element, const EmulationOptions& options,
                                  const std::vector<bool>& compared) {
  const Operands operands(kernel, call, element, compared);
  EmulatedProduct result{.c = poisoned_c(operands.a.visited_rows(), call.compact(), element), .problems = {}};
  operands.take(call, result.c);
  make_call(device, kernel, UnpackFunction::unpack, call, operands, options, result.problems);
  operands.a.visit(call, result.c.bytes().data(),
                   [](const std::byte* memory, std::byte* to, std::size_t bytes) { std::memcpy(to, memory, bytes); });
  with_element(element, [&](auto zero) {
    using Element = decltype(zero);
    operands.a.visit_gaps<Element>(call, [&](std::int64_t row, std::size_t column, const Element& between) {
      if (!is_poison(between) && result.problems.empty()) {
        result.problems.push_back(
            fmt::format("A[{}][{}], after the {} columns, was written", row, column, call.product.n));
      }
    });
  });
  return result;
}

EmulatedProduct emulate_repacking(EmulatedDevice& device, const KernelToEmulate& kernel, const KernelCall& call,
                                  const TypedElements& a, const EmulationOptions& options,
                                  const std::vector<bool>& compared) {
  const Operands operands(kernel, call, a.type(), compared);
  operands.take(call, a);
  const std::size_t element_bytes = static_cast<std::size_t>(bytes_of(a.type()));
  EmulatedProduct result{.c = TypedElements(a.type(), kernel.packed.size() / element_bytes), .problems = {}};
  make_call(device, kernel, UnpackFunction::values, call, operands, options, result.problems);
  std::ranges::copy(operands.packed.span(), result.c.bytes().begin());
  return result;
}

}  // namespace esc
