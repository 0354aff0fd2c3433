#include "generator/verify/confined_kernel.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>

#include "generator/emulate/compile_program.h"
#include "generator/verify/panel_sample.h"

namespace esc {
namespace {

enum Kind : std::uint32_t {
  ready,      ///< the text is compiled; not asked for
  product,    ///< asked: number of the product; answer: texts, of what went wrong
  has_run     ///< numbers: blocks, of how many; comes before the answer
};

/// Trips around loops that the host code of a launch may make. It has none over the matrix.
constexpr std::int64_t most_host_steps = std::int64_t{1} << 28;

constexpr std::chrono::milliseconds between_reports{50};

std::size_t bytes_of_b(const KernelTask& task, const ProductCase& product) {
  return static_cast<std::size_t>(bytes_of(task.matrix.element) * task.matrix.columns * product.ldb);
}

std::size_t bytes_of_c(const KernelTask& task, const ProductCase& product) {
  return static_cast<std::size_t>(bytes_of(task.matrix.element) * task.matrix.rows * product.ldc);
}

/// The most of all products.
template <typename Bytes>
std::size_t most(const KernelTask& task, const Bytes& bytes) {
  std::size_t result = 0;
  for (const ProductCase& product : task.products) {
    result = std::max(result, bytes(task, product));
  }
  return result;
}

/// For a kernel that prepares C for whatever part of the product is then run.
std::vector<std::uint64_t> all_blocks(const Dim3& grid) {
  std::vector<std::uint64_t> blocks(grid.volume());
  std::iota(blocks.begin(), blocks.end(), std::uint64_t{0});
  return blocks;
}

bool prepares_c(const std::string& kernel) { return kernel.ends_with("_zero_rows"); }

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

EmulationOptions options_of(const PanelSample& sample, Reporter& reporter) {
  EmulationOptions options;
  options.host_steps = most_host_steps;
  if (!sample.covers_all()) {
    options.select_blocks = [&](const LaunchInfo& launch) {
      return prepares_c(launch.kernel) ? all_blocks(launch.grid) : sample.blocks(launch.grid.x, launch.grid.y);
    };
  }
  options.after_block = [&](const std::string& kernel, std::uint64_t run, std::uint64_t all) {
    if (!prepares_c(kernel)) {
      reporter.tell(run, all);
    }
  };
  return options;
}

}  // namespace

ConfinedKernel::ConfinedKernel(const KernelTask& task, const Allowance& allowance)
    : task_(task),
      c_at_(most(task, bytes_of_b)),
      memory_(c_at_ + most(task, bytes_of_c)),
      process_(allowance, [&](const Channel& channel) { serve(channel, task, memory_, c_at_); }) {
  if (process_.answer().kind != ready) {
    throw ConfinedEnd("answers what it was not asked");
  }
}

void ConfinedKernel::serve(const Channel& channel, const KernelTask& task, const SharedMemory& memory,
                           std::size_t c_at) {
  const HostProgram program = compile_cuda(task.text, task.name + ".cu");
  channel.send({ready});
  for (Message request; channel.receive(request) == Channel::Reception::message;) {
    const std::size_t number = request.numbers.at(0);
    const ProductCase& product = task.products.at(number);
    const PanelSample sample(task.packed, task.multiply_adds.at(number), task.most_products);
    TypedElements b(task.matrix.element, static_cast<std::size_t>(task.matrix.columns * product.ldb));
    std::memcpy(b.data(), memory.part(0, b.bytes().size()).data(), b.bytes().size());
    Reporter reporter(channel);
    const EmulatedProduct result = emulate_product({program, task.name, task.packed, task.matrix.rows}, product, b,
                                                   options_of(sample, reporter));
    std::memcpy(memory.part(c_at, result.c.bytes().size()).data(), result.c.data(), result.c.bytes().size());
    channel.send({Kind::product, {}, result.problems});
  }
}

EmulatedProduct ConfinedKernel::multiply(std::size_t number, const TypedElements& b, const Progress& progress) {
  const ProductCase& product = task_.products.at(number);
  std::memcpy(memory_.part(0, b.bytes().size()).data(), b.data(), b.bytes().size());
  process_.ask({Kind::product, {number}});
  Message answer = process_.answer();
  while (answer.kind == has_run && answer.numbers.size() == 2 && answer.numbers[0] <= answer.numbers[1]) {
    progress(answer.numbers[0], answer.numbers[1]);
    answer = process_.answer();
  }
  if (answer.kind != Kind::product) {
    throw ConfinedEnd("answers what it was not asked");
  }
  EmulatedProduct result{.c = TypedElements(task_.matrix.element, static_cast<std::size_t>(task_.matrix.rows * product.ldc)),
                         .problems = std::move(answer.texts)};
  std::memcpy(result.c.data(), memory_.part(c_at_, result.c.bytes().size()).data(), result.c.bytes().size());
  return result;
}

}  // namespace esc
