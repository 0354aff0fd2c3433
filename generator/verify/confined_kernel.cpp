// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/confined_kernel.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

#include "generator/emit/layer.h"
#include "generator/emulate/device.h"
#include "generator/verify/emulated_refusals.h"
#include "generator/verify/kernel_programs.h"

namespace esc {
namespace {

enum Kind : std::uint32_t {
  ready,      ///< the text is compiled; not asked for
  multiplied, ///< asked: number of the call; answer: texts, of what went wrong
  no_room,    ///< in place of that answer: there are not enough addresses for the operands
  has_run,    ///< numbers: blocks, of how many; comes before the answer
  refused,    ///< answer: texts, of what is wrong with the refusals
  failed      ///< answer: texts, of what is wrong where a CUDA function fails
};

/// Trips around loops that the host code of a launch may make. It has none over the matrix.
constexpr std::int64_t most_host_steps = std::int64_t{1} << 28;

constexpr std::chrono::milliseconds between_reports{50};

/// Of the compared columns alone.
std::size_t elements_of_b(const TaskCall& one) { return static_cast<std::size_t>(one.matrix.columns * one.call.width()); }

/// Of the compared rows and columns alone.
std::size_t elements_of_c(const TaskCall& one) {
  const std::vector<bool> compared = one.compared_rows();
  const std::int64_t rows = compared.empty() ? one.matrix.rows : std::ranges::count(compared, true);
  return static_cast<std::size_t>(rows * one.call.width());
}

/// The most bytes that so many elements of a call take.
template <typename Elements>
std::size_t most_bytes(const KernelTask& task, const Elements& elements) {
  std::size_t most = 0;
  for (const TaskCall& one : task.calls) {
    most = std::max(most, elements(one));
  }
  return most * static_cast<std::size_t>(bytes_of(task.matrix.element));
}

bool prepares_c(const std::string& kernel) { return kernel.ends_with("_zero_rows"); }

/// All blocks of a kernel that prepares C, whatever part of the product is then run; none of them when it would have too many columns to
/// prepare.
std::vector<std::uint64_t> preparing_blocks(const KernelCall& call, const Dim3& grid) {
  std::vector<std::uint64_t> blocks(call.columns.empty() ? grid.volume() : 0);
  std::iota(blocks.begin(), blocks.end(), std::uint64_t{0});
  return blocks;
}

/// The blocks that work on the sampled rows. Of a call that compares some columns alone those of the first and the last tiles of each
/// launch, or of all where there are few.
std::vector<std::uint64_t> sampled_blocks(const TaskCall& one, const Dim3& grid) {
  constexpr std::uint32_t few = 16;  // as a second launch has, of a vector and a tile of columns, whatever a tile is
  const auto end_tiles = static_cast<std::uint32_t>(one.call.end_tiles);
  if (one.call.columns.empty() || grid.y <= std::max(few, 2 * end_tiles)) {
    return one.sample.blocks(grid.x, grid.y);
  }
  std::vector<std::uint64_t> blocks = one.sample.blocks(grid.x, end_tiles);
  const std::size_t of_an_end = blocks.size();
  for (std::size_t index = 0; index < of_an_end; ++index) {
    blocks.push_back(blocks[index] + std::uint64_t{grid.x} * (grid.y - end_tiles));
  }
  return blocks;
}

/// Says how far a launch is, now and then.
class Reporter {
 public:
  explicit Reporter(const Channel& channel) : channel_(channel) {}

  void tell(std::uint64_t run, std::uint64_t all) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ >= between_reports) {
      last_ = now;
      channel_.send({has_run, {run, all}});
    }
  }

 private:
  const Channel& channel_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

EmulationOptions options_of(const TaskCall& one, Reporter& reporter) {
  EmulationOptions options;
  options.host_steps = most_host_steps;
  if (!one.sample.covers_all() || !one.call.columns.empty()) {
    options.select_blocks = [&](const LaunchInfo& launch) {
      return prepares_c(launch.kernel) ? preparing_blocks(one.call, launch.grid) : sampled_blocks(one, launch.grid);
    };
  }
  options.after_block = [&](const std::string& kernel, std::uint64_t run, std::uint64_t all) {
    if (!prepares_c(kernel)) {
      reporter.tell(run, all);
    }
  };
  return options;
}

/// The process's side: the text, and the device that it runs on.
class Server {
 public:
  Server(const Channel& channel, const KernelTask& task)
      : channel_(channel), task_(task), programs_(task.text, task.name + ".cu", task.dispatch) {}

  Message multiply(std::size_t number, const SharedMemory& memory, std::size_t c_at) {
    const TaskCall& one = task_.calls.at(number);
    TypedElements b(one.matrix.element, elements_of_b(one));
    std::memcpy(b.data(), memory.part(0, b.bytes().size()).data(), b.bytes().size());
    Reporter reporter(channel_);
    try {
      const EmulatedProduct result = emulate_product(device_, kernel(one.packed, programs_.for_call(one.call)), one.call, b, options_of(one, reporter),
                                                     one.compared_rows(), !one.call.columns.empty());
      std::ranges::copy(result.c.bytes(), memory.part(c_at, result.c.bytes().size()).begin());
      return {multiplied, {}, result.problems};
    } catch (const std::bad_alloc&) {
      return {no_room};
    }
  }

  std::vector<std::string> refusals() const {
    return emulate_refusals(kernel(task_.packed, programs_.usual()), task_.matrix.element, task_.matrix.columns, needs_kernel(task_.input, task_.matrix.nonzeros()),
                            most_host_steps);
  }

  std::vector<std::string> failures() const {
    std::vector<KernelCall> calls;
    for (const TaskCall& one : task_.calls) {
      if (calls.empty() || !one.call.columns.empty()) {
        calls.push_back(one.call);
      }
    }
    return emulate_failures(kernel(task_.packed, programs_.usual()), task_.matrix.element, task_.matrix.columns, calls, most_host_steps);
  }

 private:
  KernelToEmulate kernel(std::span<const std::byte> packed, const HostProgram& program) const {
    return {program, task_.name, packed, task_.matrix.rows, task_.dispatch, &task_.input};
  }

  const Channel& channel_;
  const KernelTask& task_;
  KernelPrograms programs_;
  EmulatedDevice device_;
};

}  // namespace

std::vector<bool> TaskCall::compared_rows() const {
  return !call.columns.empty() ? sample.rows_of_one_task() : sample.covers_all() ? std::vector<bool>() : sample.rows();
}

ConfinedKernel::ConfinedKernel(const KernelTask& task, const Allowance& allowance)
    : task_(task),
      c_at_(most_bytes(task, elements_of_b)),
      memory_(c_at_ + most_bytes(task, elements_of_c)),
      process_(allowance, [&](const Channel& channel) { serve(channel, task, memory_, c_at_); }) {
  if (process_.answer().kind != ready) {
    throw ConfinedEnd("answers what it was not asked");
  }
}

void ConfinedKernel::serve(const Channel& channel, const KernelTask& task, const SharedMemory& memory,
                           std::size_t c_at) {
  Server server(channel, task);
  channel.send({ready});
  for (Message request; channel.receive(request) == Channel::Reception::message;) {
    if (request.kind == multiplied) {
      channel.send(server.multiply(request.numbers.at(0), memory, c_at));
    } else if (request.kind == refused) {
      channel.send({refused, {}, server.refusals()});
    } else {
      channel.send({failed, {}, server.failures()});
    }
  }
}

std::optional<EmulatedProduct> ConfinedKernel::multiply(std::size_t number, const TypedElements& b, const Progress& progress) {
  std::memcpy(memory_.part(0, b.bytes().size()).data(), b.data(), b.bytes().size());
  process_.ask({multiplied, {number}});
  Message answer = process_.answer();
  while (answer.kind == has_run && answer.numbers.size() == 2 && answer.numbers[0] <= answer.numbers[1]) {
    progress(answer.numbers[0], answer.numbers[1]);
    answer = process_.answer();
  }
  if (answer.kind == no_room) {
    return std::nullopt;
  }
  if (answer.kind != multiplied) {
    throw ConfinedEnd("answers what it was not asked");
  }
  EmulatedProduct result{.c = TypedElements(task_.matrix.element, elements_of_c(task_.calls.at(number))),
                         .problems = std::move(answer.texts)};
  std::ranges::copy(memory_.part(c_at_, result.c.bytes().size()), result.c.bytes().begin());
  return result;
}

std::vector<std::string> ConfinedKernel::refusals() { return ask_for_texts(refused); }

std::vector<std::string> ConfinedKernel::failures() { return ask_for_texts(failed); }

std::vector<std::string> ConfinedKernel::ask_for_texts(std::uint32_t kind) {
  process_.ask({kind});
  Message answer = process_.answer();
  if (answer.kind != kind) {
    throw ConfinedEnd("answers what it was not asked");
  }
  return std::move(answer.texts);
}

}  // namespace esc
