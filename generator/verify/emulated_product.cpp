#include "generator/verify/emulated_product.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <list>
#include <memory>
#include <new>
#include <optional>

#include "generator/emulate/mapped_memory.h"
#include "generator/emulate/registered_buffer.h"
#include "generator/support/limits.h"
#include "generator/verify/c_call.h"
#include "generator/verify/operands.h"
#include "generator/verify/poison.h"
#include "generator/verify/refused_calls.h"

namespace esc {
namespace {

constexpr int stopped_by_fault = -1;

/// Addresses of deployments are divisible by this, as cudaMalloc's are.
constexpr std::size_t allocation_alignment = 256;

/// On both sides of a matrix nothing is near, so that an index far outside does not land in another one.
constexpr std::size_t gap_bytes = std::size_t{64} << 20;

/// So many elements behind the columns of a row are looked at; a gap of more is for rows that are far apart.
constexpr std::int64_t watched_gap = 64;

/// What the caller's stream is: a kernel gets it and can do nothing else with it.
const char callers_stream = 0;

/// The numbers of the rows for which it is set, or of all.
std::vector<std::int64_t> numbers_of(std::int64_t rows, const std::vector<bool>& chosen) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t row = 0; row < rows; ++row) {
    if (chosen.empty() || chosen[static_cast<std::size_t>(row)]) {
      numbers.push_back(row);
    }
  }
  return numbers;
}

/// A matrix in memory of its own, from its first element to its last. Some of its rows, or all, are visited.
class PlacedMatrix {
 public:
  PlacedMatrix(std::int64_t rows, std::int64_t n, std::int64_t leading_dimension, int shift, ScalarType type,
               const std::vector<bool>& visited = {})
      : rows_(rows),
        visited_(numbers_of(rows, visited)),
        n_(n),
        element_(static_cast<std::size_t>(bytes_of(type))),
        stride_(static_cast<std::size_t>(leading_dimension) * element_),
        gap_(std::min(leading_dimension - n, watched_gap)),
        offset_(static_cast<std::size_t>(shift) * element_),
        memory_(offset_ + bytes(), gap_bytes) {}

  std::byte* data() const { return memory_.data() + offset_; }
  std::size_t bytes() const { return static_cast<std::size_t>(rows_ - 1) * stride_ + static_cast<std::size_t>(n_) * element_; }
  std::int64_t visited_rows() const { return static_cast<std::int64_t>(visited_.size()); }

  /// Calls visit(memory, place, bytes) for each range of columns in each visited row: its memory, and its place in `compact`, where the
  /// ranges stand beside each other.
  template <typename Byte, typename Visit>
  void visit(const KernelCall& call, Byte* compact, const Visit& visit) const {
    for (const std::int64_t row : visited_) {
      for (const ColumnRange& range : call.compared()) {
        const std::size_t bytes = static_cast<std::size_t>(range.count) * element_;
        visit(data() + static_cast<std::size_t>(row) * stride_ + static_cast<std::size_t>(range.first) * element_, compact, bytes);
        compact += bytes;
      }
    }
  }

  /// Calls visit(row, column, element) for what lies before and behind the columns of a visited row, as far as it is watched.
  template <typename Element, typename Visit>
  void visit_gaps(const Visit& visit) const {
    std::int64_t next = 0;  // the gaps behind the rows before this one have been visited
    for (const std::int64_t visited : visited_) {
      for (std::int64_t row = std::max(next, visited - 1); row <= visited && row + 1 < rows_; ++row) {
        auto* const first = reinterpret_cast<Element*>(data() + static_cast<std::size_t>(row) * stride_);
        for (std::int64_t column = n_; column < n_ + gap_; ++column) {
          visit(row, column, first[column]);
        }
      }
      next = visited + 1;
    }
  }

 private:
  std::int64_t rows_;
  std::vector<std::int64_t> visited_;
  std::int64_t n_;
  std::size_t element_;
  std::size_t stride_;
  std::int64_t gap_;
  std::size_t offset_;
  MappedMemory memory_;
};

/// The packed matrix at an address that is divisible by `shift` and not by more, or by 256.
class PlacedBytes {
 public:
  PlacedBytes(std::span<const std::byte> bytes, std::int64_t shift)
      // An odd multiple of the alignment, for no kernel may rely on more.
      : offset_(allocation_alignment + static_cast<std::size_t>(shift)), memory_(offset_ + bytes.size(), gap_bytes) {
    std::memcpy(memory_.data() + offset_, bytes.data(), bytes.size());
    size_ = bytes.size();
  }
  std::span<const std::byte> span() const { return {memory_.data() + offset_, size_}; }

 private:
  std::size_t offset_;
  MappedMemory memory_;
  std::size_t size_ = 0;
};

/// Before, no launch may begin before the one in front has ended.
constexpr int first_programmatic_major = 9;

void take_faults(const EmulatedDevice& device, std::vector<std::string>& problems) {
  for (const EmulationFault& fault : device.faults()) {
    problems.push_back(fault.message);
  }
}

EmulationOptions options_with(std::int64_t host_steps) {
  EmulationOptions options;
  options.host_steps = host_steps;
  return options;
}

/// What the epilogue of a kernel reads, each operand in memory of its own, and registered for a device.
class PlacedOperands {
 public:
  PlacedOperands(const KernelToEmulate& kernel, const KernelCall& call) {
    if (kernel.input == nullptr) {
      return;
    }
    for (Operand& operand : draw_operands(*kernel.input, kernel.rows, call.width())) {
      add(operand, call);
    }
  }

  /// They stay registered as long as this is there.
  void show_to(EmulatedDevice& device) {
    for (const Placed& one : placed_) {
      registered_.emplace_back(device, one.name, one.matrix->data(), one.matrix->bytes(), BufferUse::input().shared_with_predecessor());
    }
  }

  const std::vector<CArgument>& arguments() const { return arguments_; }

 private:
  struct Placed {
    std::string name;
    std::unique_ptr<PlacedMatrix> matrix;
  };

  void add(const Operand& operand, const KernelCall& call) {
    const TypedElements values(operand.type, operand.elements);
    if (operand.rank == 0) {
      arguments_.push_back(with_element(operand.type, [&](auto zero) { return CArgument(values.elements<decltype(zero)>()[0]); }));
      return;
    }
    // Rows that are not as far apart as those of C.
    const bool over_columns = operand.over_columns;
    const std::int64_t columns = over_columns ? call.product.n : 1;
    const std::int64_t distance = operand.rank == 2 ? call.product.ldc + 1 : columns;
    const bool by_row = !over_columns;
    auto matrix = by_row ? std::make_unique<PlacedMatrix>(1, operand.rows, operand.rows, 0, operand.type)
                         : std::make_unique<PlacedMatrix>(operand.rows, columns, distance, 0, operand.type);
    if (by_row) {
      std::memcpy(matrix->data(), values.data(), values.bytes().size());
    } else {
      matrix->visit(call, values.bytes().data(),
                    [](std::byte* memory, const std::byte* from, std::size_t bytes) { std::memcpy(memory, from, bytes); });
    }
    arguments_.emplace_back(static_cast<const void*>(matrix->data()));
    if (operand.rank == 2) {
      arguments_.emplace_back(distance);
    }
    placed_.push_back({"operand " + operand.name, std::move(matrix)});
  }

  std::vector<CArgument> arguments_;
  std::vector<Placed> placed_;
  std::list<RegisteredBuffer> registered_;
};

std::optional<int> call_spmm(EmulatedDevice& device, const KernelToEmulate& kernel, const ProductArguments& arguments) {
  void* const function = kernel.program.symbol(kernel.name + "_spmm");
  return device.call(kernel.program, [&] { return call_product(function, arguments); });
}

}  // namespace

EmulatedProduct emulate_product(EmulatedDevice& device, const KernelToEmulate& kernel, const KernelCall& call,
                                const TypedElements& b, const EmulationOptions& options, const std::vector<bool>& compared,
                                bool c_holds_zeros) {
  const ProductCase& product = call.product;
  const auto width = static_cast<std::size_t>(call.width());
  const auto columns = static_cast<std::int64_t>(b.size() / width);
  const PlacedMatrix placed_b(columns, product.n, product.ldb, product.shift_b, b.type());
  const PlacedMatrix placed_c(kernel.rows, product.n, product.ldc, product.shift_c, b.type(), compared);
  const PlacedBytes placed_packed(kernel.packed, call.shift_packed);
  PlacedOperands placed_operands(kernel, call);
  EmulatedProduct result{.c = poisoned_c(placed_c.visited_rows(), call.compact(), b.type()), .problems = {}};
  placed_b.visit(call, b.bytes().data(),
                 [](std::byte* memory, const std::byte* from, std::size_t bytes) { std::memcpy(memory, from, bytes); });
  placed_c.visit(call, result.c.bytes().data(),
                 [](std::byte* memory, const std::byte* from, std::size_t bytes) { std::memcpy(memory, from, bytes); });
  with_element(b.type(), [&](auto zero) {
    using Element = decltype(zero);
    placed_b.visit_gaps<Element>([](std::int64_t, std::int64_t, Element& element) {
      element = std::numeric_limits<Element>::quiet_NaN();
    });
    placed_c.visit_gaps<Element>([](std::int64_t, std::int64_t, Element& element) { element = poison<Element>(); });
  });

  void* const stream = call.default_stream ? nullptr : const_cast<char*>(&callers_stream);
  EmulationOptions circumstances = options;
  circumstances.stream = stream;
  circumstances.properties.compute_major = call.compute_major;
  const bool overlaps = kernel.dispatch.programmatic && call.compute_major >= first_programmatic_major;
  const std::string expected = call.expected_kernel(kernel.name, kernel.dispatch);
  circumstances.before_launch = [&](const LaunchInfo& launch) {
    if (!launch.kernel.ends_with("_zero_rows") && !launch.kernel.ends_with("::" + expected)) {
      result.problems.push_back(fmt::format("{} is launched, not {}", launch.kernel, expected));
    }
    if (launch.programmatic != overlaps) {
      result.problems.push_back(fmt::format("{} is launched {} the leave to begin early", launch.kernel, overlaps ? "without" : "with"));
    }
  };
  device.set_options(std::move(circumstances));
  const RegisteredBuffer in_b(device, "B", placed_b.data(), placed_b.bytes(), BufferUse::input().shared_with_predecessor());
  const RegisteredBuffer out_c(device, "C", placed_c.data(), placed_c.bytes(),
                               (c_holds_zeros ? BufferUse::update() : BufferUse::output()).shared_with_predecessor());
  const RegisteredBuffer in_packed(device, "packed", placed_packed.span().data(), placed_packed.span().size(), BufferUse::input());

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
    placed_c.visit_gaps<Element>([&](std::int64_t row, std::int64_t column, const Element& element) {
      if (!is_poison(element) && result.problems.empty()) {
        result.problems.push_back(
            fmt::format("C[{}][{}], behind the {} columns, was written", row, column, product.n));
      }
    });
  });
  return result;
}

std::vector<std::string> emulate_refusals(const KernelToEmulate& kernel, ScalarType element, std::int64_t columns, bool has_kernel,
                                          std::int64_t host_steps) {
  const std::int64_t bcol = std::min(kernel.dispatch.tuned_columns, most_checked_columns);
  std::vector<std::string> problems;
  const PlacedMatrix b(columns, bcol, bcol, 0, element);
  const PlacedMatrix c(kernel.rows, bcol, bcol, 0, element);
  const PlacedBytes packed(kernel.packed, 0);
  EmulatedDevice device(options_with(host_steps));
  device.add_buffer("B", b.data(), b.bytes(), BufferUse::input());
  device.add_buffer("C", c.data(), c.bytes(), BufferUse::output());
  device.add_buffer("packed", packed.span(), BufferUse::input());
  device.call<int()>(kernel.program, kernel.name + "_prepare");  // else a launch may fail, with the very status of a refusal
  const auto done = [&] { return device.counters().launches + device.counters().fills; };
  const auto n = static_cast<std::int32_t>(bcol);
  PlacedOperands operands(kernel, {.product = {.n = n, .ldb = n, .ldc = n}});
  operands.show_to(device);
  const ProductArguments good{packed.span().data(), b.data(), n, c.data(), n, operands.arguments(), n};
  for (const RefusedCall& call : refused_calls(good, has_kernel)) {
    const std::uint64_t before = done();
    const int status = call_spmm(device, kernel, call.arguments).value_or(stopped_by_fault);
    if (status != call.status) {
      problems.push_back(fmt::format("a call with {} returns {} instead of {}", call.wrong, status, call.status));
    }
    if (done() != before) {
      problems.push_back(fmt::format("a call with {} launches or writes something", call.wrong));
    }
  }
  take_faults(device, problems);
  return problems;
}

std::vector<std::string> emulate_failures(const KernelToEmulate& kernel, ScalarType element, std::int64_t columns,
                                          const std::vector<KernelCall>& calls, std::int64_t host_steps) {
  constexpr int unknown_error = 999;
  std::vector<std::string> problems;
  const PlacedBytes packed(kernel.packed, 0);
  const auto prepare = [&](EmulatedDevice& device) { return device.call<int()>(kernel.program, kernel.name + "_prepare"); };
  const auto try_failures = [&](const std::string& what, auto call) {
    // The first that is not reached succeeds, as all do.
    for (std::uint64_t failing = 0, reached = 1; failing < reached; ++failing) {
      EmulatedDevice device(options_with(host_steps));
      const auto done_so_far = [&device] {
        const EmulationCounters& counters = device.counters();
        return counters.launches + counters.fills + counters.prepared;
      };
      prepare(device);
      const std::uint64_t before = done_so_far();
      EmulationOptions options = options_with(host_steps);
      options.failing_call = before + failing;
      options.select_blocks = [](const LaunchInfo&) { return std::vector<std::uint64_t>(); };
      device.set_options(options);
      const int status = call(device).value_or(stopped_by_fault);
      const std::uint64_t done = done_so_far() - before;
      if (done == failing && status == unknown_error) {
        reached = failing + 2;
      } else if (status != 0 || done > failing) {
        problems.push_back(fmt::format("{} returns {} after {} CUDA functions of which number {} has failed", what, status, done, failing));
      }
      take_faults(device, problems);
    }
  };
  try_failures("preparing", prepare);
  for (const KernelCall& one : calls) {
    try {
      const ProductCase& product = one.product;
      const PlacedMatrix b(columns, product.n, product.ldb, 0, element);
      const PlacedMatrix c(kernel.rows, product.n, product.ldc, 0, element);
      const PlacedOperands operands(kernel, one);
      try_failures(print(one), [&](EmulatedDevice& device) {
        device.add_buffer("C", c.data(), c.bytes(), BufferUse::update());
        return call_spmm(device, kernel,
                         {packed.span().data(), b.data(), product.ldb, c.data(), product.ldc, operands.arguments(), product.n});
      });
    } catch (const std::bad_alloc&) {
      continue;  // whoever makes the call itself says that there are not enough addresses
    }
  }
  EmulatedDevice device(options_with(host_steps));
  prepare(device);
  if (device.counters().prepared != kernel.program.kernels().size()) {
    problems.push_back(fmt::format("{} of {} kernels are asked for when they are prepared", device.counters().prepared,
                                   kernel.program.kernels().size()));
  }
  return problems;
}

}  // namespace esc
