// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/emulated_refusals.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "generator/support/limits.h"
#include "generator/verify/placed_matrix.h"
#include "generator/verify/placed_operands.h"
#include "generator/verify/refused_calls.h"

namespace esc {
namespace {

/// What a CUDA function returns that is made to fail.
constexpr int unknown_error = 999;

EmulationOptions options_with(std::int64_t host_steps) {
  EmulationOptions options;
  options.host_steps = host_steps;
  return options;
}

/// What is wrong with refusals of NAME_unpack or NAME_values, on a device of its own.
void check_refused_unpackings(UnpackFunction function, const KernelToEmulate& kernel, ScalarType element,
                              std::int64_t columns, const EmulationOptions& options,
                              std::vector<std::string>& problems) {
  const PlacedLayout in_rows;
  const PlacedMatrix a({in_rows, kernel.rows, columns}, columns, 0, element);
  const PlacedBytes packed(kernel.packed, 0);
  EmulatedDevice device(options);
  device.add_buffer("A", a.data(), a.bytes(), BufferUse::update());
  device.add_buffer("packed", packed.span(), BufferUse::update());
  const UnpackArguments good{.packed = packed.span().data(), .a = a.data(), .lda = columns};
  const auto expect_refusal = [&](const RefusedUnpacking& call) {
    const int status = call_unpack(device, kernel, function, call.arguments).value_or(stopped_by_fault);
    if (status != call.status) {
      problems.push_back(
          fmt::format("{} with {} returns {} instead of {}", doing(function), call.wrong, status, call.status));
    }
  };
  if (kernel.dispatch.needs_preparing) {
    expect_refusal(unprepared_unpacking(good));
  }
  device.call<int()>(kernel.program, kernel.name + "_prepare");
  const auto done = [&] { return device.counters().launches + device.counters().fills; };
  for (const RefusedUnpacking& call : refused_unpackings(good)) {
    const std::uint64_t before = done();
    expect_refusal(call);
    if (done() != before) {
      problems.push_back(fmt::format("{} with {} launches or writes something", doing(function), call.wrong));
    }
  }
  take_faults(device, problems);
}

/// What is wrong where nobody has prepared the kernel and CUDA does not say either how much shared memory it has: then
/// the launch's own error is returned. Of each device another CUDA function fails: first those before that
/// question.
void check_unexplained_call(const KernelToEmulate& kernel, const RefusedCall& call, std::span<std::byte> c,
                            std::int64_t host_steps, std::vector<std::string>& problems) {
  constexpr std::uint64_t most_in_front = 16;
  int status = unknown_error;
  for (std::uint64_t failing = 0; status == unknown_error && failing < most_in_front; ++failing) {
    EmulationOptions options = options_with(host_steps);
    options.failing_call = failing;
    EmulatedDevice device(options);
    device.add_buffer("C", c.data(), c.size(), BufferUse::output());
    status = call_spmm(device, kernel, call.arguments).value_or(stopped_by_fault);
    take_faults(device, problems);
  }
  if (status != call.status) {
    problems.push_back(fmt::format("a call with {} returns {} instead of {}", call.wrong, status, call.status));
  }
}

}  // namespace

std::vector<std::string> emulate_refusals(const KernelToEmulate& kernel, ScalarType element, std::int64_t columns,
                                          bool has_kernel, std::int64_t host_steps) {
  const std::int64_t bcol =
      std::clamp<std::int64_t>(most_checked_columns / kernel.dispatch.item_columns(), 1, kernel.dispatch.tuned_items);
  std::vector<std::string> problems;
  const ProductCase product = product_without_gaps(kernel.dispatch, bcol);
  const PlacedMatrix b({kernel.dispatch.b, columns, bcol}, product.ldb, 0, element);
  const PlacedMatrix c({kernel.dispatch.c, kernel.rows, bcol}, product.ldc, 0, element);
  const PlacedBytes packed(kernel.packed, 0);
  EmulatedDevice device(options_with(host_steps));
  device.add_buffer("B", b.data(), b.bytes(), BufferUse::input());
  device.add_buffer("C", c.data(), c.bytes(), BufferUse::output());
  device.add_buffer("packed", packed.span(), BufferUse::input());
  const auto done = [&] { return device.counters().launches + device.counters().fills; };
  PlacedOperands operands(kernel.input, kernel.rows,
                          {.product = product, .item_columns = kernel.dispatch.item_columns()}, kernel.dispatch);
  operands.show_to(device);
  const ProductArguments good{packed.span().data(), b.data(), product.ldb, c.data(), product.ldc,
                              operands.arguments(), product.n};
  const auto expect_status = [&](const RefusedCall& call) {
    const int status = call_spmm(device, kernel, call.arguments).value_or(stopped_by_fault);
    if (status != call.status) {
      problems.push_back(fmt::format("a call with {} returns {} instead of {}", call.wrong, status, call.status));
    }
  };
  if (kernel.dispatch.needs_preparing) {
    expect_status(unprepared_call(good));
    check_unexplained_call(kernel, unexplained_call(good), {c.data(), c.bytes()}, host_steps, problems);
  }
  device.call<int()>(kernel.program, kernel.name + "_prepare");
  for (const RefusedCall& call : refused_calls(good, kernel.dispatch.item_columns(), has_kernel)) {
    const std::uint64_t before = done();
    expect_status(call);
    if (done() != before) {
      problems.push_back(fmt::format("a call with {} launches or writes something", call.wrong));
    }
  }
  take_faults(device, problems);
  if (kernel.dispatch.unpacks) {
    for (const UnpackFunction function : {UnpackFunction::unpack, UnpackFunction::values}) {
      check_refused_unpackings(function, kernel, element, columns, options_with(host_steps), problems);
    }
  }
  return problems;
}

std::vector<std::string> emulate_failures(const KernelToEmulate& kernel, ScalarType element, std::int64_t columns,
                                          const std::vector<KernelCall>& calls, std::int64_t host_steps) {
  std::vector<std::string> problems;
  const PlacedBytes packed(kernel.packed, 0);
  const auto prepare = [&](EmulatedDevice& device) {
    return device.call<int()>(kernel.program, kernel.name + "_prepare");
  };
  const auto try_failures = [&](const std::string& what, auto call) {
    // The status where a CUDA function, by its number, fails, and how many others have been called; none fails without
    // a number.
    const auto run = [&](std::optional<std::uint64_t> failing) {
      EmulatedDevice device(options_with(host_steps));
      const auto done_so_far = [&device] {
        const EmulationCounters& counters = device.counters();
        return counters.launches + counters.fills + counters.prepared + counters.tensor_calls;
      };
      prepare(device);
      const std::uint64_t before = done_so_far();
      EmulationOptions options = options_with(host_steps);
      if (failing) {
        options.failing_call = before + *failing;
      }
      options.select_blocks = [](const LaunchInfo&) { return std::vector<std::uint64_t>(); };
      device.set_options(options);
      const int status = call(device).value_or(stopped_by_fault);
      const std::uint64_t done = done_so_far() - before;
      take_faults(device, problems);
      return std::pair(status, done);
    };
    const auto [usual, all] = run(std::nullopt);
    if (usual != 0) {
      problems.push_back(fmt::format("{} returns {} though no CUDA function has failed", what, usual));
    }
    for (std::uint64_t failing = 0; failing < all; ++failing) {
      const auto [status, done] = run(failing);
      if (status != unknown_error || done != failing) {
        problems.push_back(fmt::format("{} returns {} after {} CUDA functions of which number {} has failed", what,
                                       status, done, failing));
      }
    }
  };
  try_failures("preparing", prepare);
  if (kernel.dispatch.unpacks) {
    const PlacedLayout in_rows;
    const PlacedMatrix a({in_rows, kernel.rows, columns}, columns, 0, element);
    for (const UnpackFunction function : {UnpackFunction::unpack, UnpackFunction::values}) {
      try_failures(doing(function), [&](EmulatedDevice& device) {
        device.add_buffer("packed", packed.span(), BufferUse::update());
        return call_unpack(device, kernel, function, {packed.span().data(), a.data(), columns});
      });
    }
  }
  for (const KernelCall& one : calls) {
    try {
      const ProductCase& product = one.product;
      const PlacedMatrix b({kernel.dispatch.b, columns, product.n}, product.ldb, 0, element);
      const PlacedMatrix c({kernel.dispatch.c, kernel.rows, product.n}, product.ldc, 0, element);
      const PlacedOperands operands(kernel.input, kernel.rows, one, kernel.dispatch);
      try_failures(print(one), [&](EmulatedDevice& device) {
        device.add_buffer("C", c.data(), c.bytes(), BufferUse::update());
        return call_spmm(
            device, kernel,
            {packed.span().data(), b.data(), product.ldb, c.data(), product.ldc, operands.arguments(), product.n});
      });
    } catch (const std::bad_alloc&) {
      continue;  // whoever makes the call itself says that there are not enough addresses
    }
  }
  EmulatedDevice device(options_with(host_steps));
  prepare(device);
  for (const ProgramKernel& one : kernel.program.kernels()) {
    if (!device.prepared_kernels().contains(one.facts.name)) {
      problems.push_back(
          fmt::format("preparing does not ask for the attributes of {}, which loads it", one.facts.name));
    }
  }
  return problems;
}

}  // namespace esc
