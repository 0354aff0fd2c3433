// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/emulated_product.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "generator/emulate/registered_buffer.h"
#include "generator/verify/placed_matrix.h"
#include "generator/verify/placed_operands.h"
#include "generator/verify/poison.h"

namespace esc {
namespace {

/// What the caller's stream is: a kernel gets it and can do nothing else with it.
const char callers_stream = 0;

/// Before, no launch may begin before the one before has ended.
constexpr int first_programmatic_major = 9;

/// Of the rows that are there, `width` elements each, those that are prepared.
void set_to_zero(TypedElements& c, std::size_t width, const std::vector<bool>& compared,
                 const std::vector<bool>& prepared) {
  const std::size_t bytes = width * static_cast<std::size_t>(bytes_of(c.type()));
  std::byte* row_of_c = c.bytes().data();
  for (std::size_t row = 0; row < prepared.size(); ++row) {
    if (compared.empty() || compared[row]) {
      std::fill_n(row_of_c, prepared[row] ? bytes : 0, std::byte{0});
      row_of_c += bytes;
    }
  }
}

}  // namespace

EmulatedProduct emulate_product(EmulatedDevice& device, const KernelToEmulate& kernel, const KernelCall& call,
                                const TypedElements& b, const EmulationOptions& options,
                                const std::vector<bool>& compared, const std::vector<bool>& prepared) {
  const ProductCase& product = call.product;
  const auto width = static_cast<std::size_t>(call.width());
  const auto columns = static_cast<std::int64_t>(b.size() / width);
  const PlacedMatrix placed_b({kernel.dispatch.b, columns, product.n}, product.ldb, product.shift_b, b.type());
  const PlacedMatrix placed_c({kernel.dispatch.c, kernel.rows, product.n}, product.ldc, product.shift_c, b.type(),
                              compared);
  const PlacedBytes placed_packed(kernel.packed, call.shift_packed);
  PlacedOperands placed_operands(kernel.input, kernel.rows, call, kernel.dispatch);
  EmulatedProduct result{.c = poisoned_c(placed_c.visited_rows(), call.compact(), b.type()), .problems = {}};
  set_to_zero(result.c, width, compared, prepared);
  placed_b.visit(call, b.bytes().data(),
                 [](std::byte* memory, const std::byte* from, std::size_t bytes) { std::memcpy(memory, from, bytes); });
  placed_c.visit(call, result.c.bytes().data(),
                 [](std::byte* memory, const std::byte* from, std::size_t bytes) { std::memcpy(memory, from, bytes); });
  with_element(b.type(), [&](auto zero) {
    using Element = decltype(zero);
    placed_b.visit_gaps<Element>(call, [](std::int64_t, std::size_t, Element& element) {
      element = static_cast<Element>(std::numeric_limits<double>::quiet_NaN());
    });
    placed_c.visit_gaps<Element>(call,
                                 [](std::int64_t, std::size_t, Element& element) { element = poison<Element>(); });
  });

  void* const stream = call.default_stream ? nullptr : const_cast<char*>(&callers_stream);
  EmulationOptions circumstances = options;
  circumstances.stream = stream;
  circumstances.properties.compute_major = call.compute_major;
  circumstances.properties.compute_minor = call.compute_minor;
  circumstances.shuffle_seed = call.order ? call.order : options.shuffle_seed;
  const bool overlaps = kernel.dispatch.programmatic && call.compute_major >= first_programmatic_major;
  const std::string expected = call.expected_kernel(kernel.name, kernel.dispatch);
  circumstances.before_launch = [&](const LaunchInfo& launch) {
    if (!launch.kernel.ends_with("_zero_rows") && !launch.kernel.ends_with("::" + expected)) {
      result.problems.push_back(fmt::format("{} is launched, not {}", launch.kernel, expected));
    }
    if (launch.programmatic != overlaps) {
      result.problems.push_back(
          fmt::format("{} is launched {} the leave to begin early", launch.kernel, overlaps ? "without" : "with"));
    }
  };
  device.set_options(std::move(circumstances));
  const RegisteredBuffer in_b(device, "B", placed_b.data(), placed_b.bytes(),
                              BufferUse::input().shared_with_predecessor());
  const RegisteredBuffer out_c(
      device, "C", placed_c.data(), placed_c.bytes(),
      (prepared.empty() ? BufferUse::output() : BufferUse::update()).shared_with_predecessor());
  const RegisteredBuffer in_packed(device, "packed", placed_packed.span().data(), placed_packed.span().size(),
                                   BufferUse::input());

  if (device.call<int()>(kernel.program, kernel.name + "_prepare") != 0) {
    result.problems.emplace_back("the kernels cannot be prepared");
  }
  placed_operands.show_to(device);
  const int status = call_spmm(device, kernel,
                               {.packed = placed_packed.span().data(),
                                .b = placed_b.data(),
                                .ldb = product.ldb,
                                .c = placed_c.data(),
                                .ldc = product.ldc,
                                .operands = placed_operands.arguments(),
                                .n = product.n,
                                .stream = stream})
                         .value_or(stopped_by_fault);
  take_faults(device, result.problems);
  device.forget_faults();
  if (status != 0) {
    result.problems.push_back(fmt::format("the launch returns error {}", status));
  }
  placed_c.visit(call, result.c.bytes().data(),
                 [](const std::byte* memory, std::byte* to, std::size_t bytes) { std::memcpy(to, memory, bytes); });
  with_element(b.type(), [&](auto zero) {
    using Element = decltype(zero);
    placed_c.visit_gaps<Element>(call, [&](std::int64_t index, std::size_t place, const Element& element) {
      if (!is_poison(element) && result.problems.empty()) {
        result.problems.push_back(
            kernel.dispatch.c.is_row_major()
                ? fmt::format("C[{}][{}], after the {} columns, was written", index, place, product.n)
                : fmt::format("C at {} * ldc + {}, between two indices, was written", index, place));
      }
    });
  });
  return result;
}

}  // namespace esc
