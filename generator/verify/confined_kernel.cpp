// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/confined_kernel.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <numeric>
#include <set>
#include <utility>

#include "generator/emit/layer.h"
#include "generator/emulate/device.h"
#include "generator/verify/emulated_refusals.h"
#include "generator/verify/emulated_unpacking.h"
#include "generator/verify/kernel_programs.h"
#include "generator/verify/sampled_tiles.h"

namespace esc {
namespace {

enum Kind : std::uint32_t {
  ready,       ///< the text is compiled; not asked for
  multiplied,  ///< asked: number of the call; answer: texts, of what went wrong
  no_room,     ///< in place of that answer: there are not enough addresses for the operands
  has_run,     ///< numbers: blocks, of how many; comes before the answer
  refused,     ///< answer: texts, of what is wrong with the refusals
  failed       ///< answer: texts, of what is wrong where a CUDA function fails
};

/// Trips around loops that the host code of a launch may make. It has none over the matrix.
constexpr std::int64_t most_host_steps = std::int64_t{1} << 28;

constexpr std::chrono::milliseconds between_reports{50};

/// Of the compared rows and columns alone.
std::size_t elements_of_rows(const TaskCall& one) {
  const std::vector<bool> compared = one.compared_rows();
  const std::int64_t rows = compared.empty() ? one.matrix.rows : std::ranges::count(compared, true);
  return static_cast<std::size_t>(rows * one.call.width());
}

/// Of the compared columns alone.
std::size_t elements_of_b(const TaskCall& one) {
  return !one.function                             ? static_cast<std::size_t>(one.matrix.columns * one.call.width())
         : *one.function == UnpackFunction::values ? elements_of_rows(one)
                                                   : 0;
}

std::size_t elements_of_c(const TaskCall& one) {
  return one.function == UnpackFunction::values
             ? one.packed.size() / static_cast<std::size_t>(bytes_of(one.matrix.element))
             : elements_of_rows(one);
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

/// All blocks of a kernel that prepares C, whatever part of the product is then run; none of them when it would have
/// too many columns to prepare.
std::vector<std::uint64_t> preparing_blocks(const KernelCall& call, const Dim3& grid) {
  std::vector<std::uint64_t> blocks(call.columns.empty() ? grid.volume() : 0);
  std::iota(blocks.begin(), blocks.end(), std::uint64_t{0});
  return blocks;
}

/// The blocks of launch `number` that work on the sampled rows and tiles.
std::vector<std::uint64_t> sampled_blocks(const TaskCall& one, const Dispatch& dispatch, const Dim3& grid,
                                          std::int64_t number) {
  if (one.call.columns.empty() && one.tile_stride == 1) {
    return one.sample.blocks(grid.x, grid.y);
  }
  std::set<std::uint64_t> tiles = SampledTiles{dispatch.tile_columns, one.tile_stride}.of_launch(one.call, number);
  tiles.erase(tiles.lower_bound(grid.y), tiles.end());
  return one.sample.blocks_of_tiles(grid.x, {tiles.begin(), tiles.end()});
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

EmulationOptions options_of(const TaskCall& one, const Dispatch& dispatch, Reporter& reporter) {
  EmulationOptions options;
  options.host_steps = most_host_steps;
  if (!one.sample.covers_all() || one.tile_stride > 1 || !one.call.columns.empty()) {
    options.select_blocks = [&, launches = std::int64_t{0}](const LaunchInfo& launch) mutable {
      return prepares_c(launch.kernel) ? preparing_blocks(one.call, launch.grid)
                                       : sampled_blocks(one, dispatch, launch.grid, launches++);
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

  Message multiply(std::size_t number, const SharedPlace& memory, std::size_t c_at) {
    const TaskCall& one = task_.calls.at(number);
    try {
      const EmulatedProduct result = !one.function                             ? product(one, memory)
                                     : *one.function == UnpackFunction::values ? repacked(one, memory)
                                                                               : unpacked(one);
      std::ranges::copy(result.c.bytes(), memory.part(c_at, result.c.bytes().size()).begin());
      return {multiplied, {}, result.problems};
    } catch (const std::bad_alloc&) {
      return {no_room};
    }
  }

  std::vector<std::string> refusals() const {
    return emulate_refusals(kernel(task_.packed, programs_.usual()), task_.matrix.element, task_.matrix.columns,
                            needs_kernel(task_.input, task_.matrix.nonzeros), most_host_steps);
  }

  std::vector<std::string> failures() const {
    std::vector<KernelCall> calls;
    for (const TaskCall& one : task_.calls) {
      if (!one.function && (calls.empty() || (!one.call.columns.empty() && !one.call.order))) {
        calls.push_back(one.call);
      }
    }
    return emulate_failures(kernel(task_.packed, programs_.usual()), task_.matrix.element, task_.matrix.columns, calls,
                            most_host_steps);
  }

 private:
  /// B, or what is told in its place.
  static TypedElements given(const TaskCall& one, const SharedPlace& memory) {
    TypedElements b(one.matrix.element, elements_of_b(one));
    std::memcpy(b.data(), memory.part(0, b.bytes().size()).data(), b.bytes().size());
    return b;
  }

  EmulatedProduct product(const TaskCall& one, const SharedPlace& memory) {
    Reporter reporter(channel_);
    return emulate_product(device_, kernel(one.packed, programs_.for_call(one.call)), one.call, given(one, memory),
                           options_of(one, task_.dispatch, reporter), one.compared_rows(), one.prepared_rows());
  }

  EmulatedProduct unpacked(const TaskCall& one) {
    Reporter reporter(channel_);
    return emulate_unpacking(device_, kernel(one.packed, programs_.for_call(one.call)), one.call, one.matrix.element,
                             options_of(one, task_.dispatch, reporter), one.compared_rows());
  }

  EmulatedProduct repacked(const TaskCall& one, const SharedPlace& memory) {
    Reporter reporter(channel_);
    return emulate_repacking(device_, kernel(one.packed, programs_.for_call(one.call)), one.call, given(one, memory),
                             options_of(one, task_.dispatch, reporter), one.compared_rows());
  }

  KernelToEmulate kernel(std::span<const std::byte> packed, const HostProgram& program) const {
    return {program, task_.name, packed, task_.matrix.rows, task_.dispatch, &task_.input};
  }

  const Channel& channel_;
  const KernelTask& task_;
  KernelPrograms programs_;
  EmulatedDevice device_;
};

std::size_t aligned(std::size_t bytes) {
  constexpr std::size_t alignment = 256;
  return (bytes + alignment - 1) / alignment * alignment;
}

/// Calls use(packed) for each of the packed matrices of a task: calls share them.
template <typename Use>
void for_each_packed(const KernelTask& task, const Use& use) {
  std::set<const std::byte*> seen = {task.packed.data()};
  use(task.packed);
  for (const TaskCall& one : task.calls) {
    if (seen.insert(one.packed.data()).second) {
      use(one.packed);
    }
  }
}

std::size_t bytes_of_packed(const KernelTask& task) {
  std::size_t bytes = 0;
  for_each_packed(task, [&](std::span<const std::byte> packed) { bytes += aligned(packed.size()); });
  return bytes;
}

/// What a task takes at most where the process has it: what is told of its calls is a few bits for each row, block and
/// non-zero.
std::size_t work_bytes(const KernelTask& task) {
  constexpr std::size_t of_call = 4096;
  constexpr std::size_t of_nest = std::size_t{32} << 20;
  const auto bits = static_cast<std::size_t>(task.matrix.rows + task.matrix.nonzeros) / 4;
  return of_nest + 2 * task.text.size() + (task.calls.size() + 1) * (of_call + bits);
}

/// A task that has what it refers to, for another process: the packed matrices are in memory that it shares.
class OwnTask {
 public:
  OwnTask(const KernelTask& task, const SharedPlace& memory, std::size_t packed_at)
      : text_(task.text),
        name_(task.name),
        dispatch_(task.dispatch),
        matrix_(task.matrix),
        calls_(task.calls),
        input_(task.input) {
    std::map<const std::byte*, std::span<const std::byte>> placed;
    for_each_packed(task, [&](std::span<const std::byte> packed) {
      const std::span<std::byte> place = memory.part(packed_at, packed.size());
      std::ranges::copy(packed, place.begin());
      placed[packed.data()] = place;
      packed_at += aligned(packed.size());
    });
    packed_ = placed.at(task.packed.data());
    for (TaskCall& one : calls_) {
      one.packed = placed.at(one.packed.data());
      one.source = nullptr;
      one.packed_of_values = {};
    }
  }

  KernelTask task() const { return {text_, name_, dispatch_, packed_, matrix_, calls_, input_}; }

 private:
  std::string text_;
  std::string name_;
  Dispatch dispatch_;
  std::span<const std::byte> packed_;
  MatrixShape matrix_;
  std::vector<TaskCall> calls_;
  LoopNest input_;
};

}  // namespace

std::vector<bool> TaskCall::compared_rows() const {
  return sample.covers_all() && call.columns.empty() ? std::vector<bool>() : sample.rows();
}

std::vector<bool> TaskCall::prepared_rows() const {
  return call.columns.empty() ? std::vector<bool>() : sample.split_rows();
}

std::vector<bool> TaskCall::compared_columns(std::int64_t tile_columns) const {
  return tile_stride == 1 ? std::vector<bool>() : SampledTiles{tile_columns, tile_stride}.compared_columns(call);
}

ConfinedKernel::ConfinedKernel(const KernelTask& task, const Allowance& allowance)
    : task_(task),
      c_at_(most_bytes(task, elements_of_b)),
      packed_at_(aligned(c_at_ + most_bytes(task, elements_of_c))),
      memory_(packed_at_ + bytes_of_packed(task)),
      process_(
          allowance,
          [task = OwnTask(task, memory_.place(), packed_at_), memory = memory_.place(),
           c_at = c_at_](const Channel& channel) { serve(channel, task.task(), memory, c_at); },
          work_bytes(task), &memory_) {
  if (process_.answer().kind != ready) {
    throw ConfinedEnd("answers what it was not asked");
  }
}

void ConfinedKernel::serve(const Channel& channel, const KernelTask& task, const SharedPlace& memory,
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

std::optional<EmulatedProduct> ConfinedKernel::multiply(std::size_t number, const TypedElements& b,
                                                        const Progress& progress) {
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
