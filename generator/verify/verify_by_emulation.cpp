#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <numeric>
#include <optional>
#include <span>

#include "generator/emulate/compile_program.h"
#include "generator/emulate/device.h"
#include "generator/verify/emulated_product.h"
#include "generator/verify/emulated_transformer.h"
#include "generator/verify/kernel_calls.h"
#include "generator/verify/panel_sample.h"
#include "generator/verify/transformer_check.h"
#include "generator/verify/verify.h"

namespace esc {
namespace {

constexpr std::uint64_t seed_of_b = 1;

/// What B and C of one product may take, with as much again for the emulator's notes on them.
constexpr std::int64_t most_dense_bytes = std::int64_t{2} << 30;

std::int64_t dense_bytes(const SparseMatrix& matrix, const KernelCall& call) {
  return bytes_of(matrix.element) * call.width() * (matrix.columns + matrix.rows);
}

/// The bundle's own transformer must write the packed file, and nothing that is not its own. Gives what it makes of other values.
std::optional<OtherValues> check_emulated_transformer(const BundleUnderTest& bundle, const SparseMatrix& matrix,
                                                      const EmulationEffort& effort, VerificationReport& report) {
  EmulatedTransformer transformer(bundle.transformer_text, bundle.name, matrix);
  TransformCheck check = check_transformer(transformer.functions(), matrix, effort.most_dense_elements);
  report.problems = std::move(check.problems);
  for (const EmulationFault& fault : transformer.device().faults()) {
    report.problems.push_back("transformer: " + fault.message);
  }
  if (!std::ranges::equal(check.packed, bundle.packed)) {
    report.problems.push_back("the transformer does not write what the packed file holds");
  }
  return std::move(check.other);
}

bool prepares_c(const std::string& kernel) { return kernel.ends_with("_zero_rows"); }

/// All blocks of a kernel that prepares C, whatever part of the product is then run; none of them when it would have too many columns to
/// prepare.
std::vector<std::uint64_t> preparing_blocks(const KernelCall& call, const Dim3& grid) {
  std::vector<std::uint64_t> blocks(call.columns.empty() ? grid.volume() : 0);
  std::iota(blocks.begin(), blocks.end(), std::uint64_t{0});
  return blocks;
}

/// The blocks that work on the sampled rows. Of a call that compares some columns alone those of the first and the last tile of each
/// launch, or of all where there are few.
std::vector<std::uint64_t> sampled_blocks(const PanelSample& sample, const KernelCall& call, const Dim3& grid) {
  constexpr std::uint32_t few = 8;
  if (call.columns.empty() || grid.y <= few) {
    return sample.blocks(grid.x, grid.y);
  }
  std::vector<std::uint64_t> blocks = sample.blocks(grid.x, 1);
  const std::size_t of_a_tile = blocks.size();
  for (std::size_t index = 0; index < of_a_tile; ++index) {
    blocks.push_back(blocks[index] + std::uint64_t{grid.x} * (grid.y - 1));
  }
  return blocks;
}

/// The multiply-adds that a call may take: its share of what a whole product takes, and enough for some blocks.
std::int64_t most_products(const KernelCall& call, const SparseMatrix& matrix, const EmulationEffort& effort) {
  constexpr std::int64_t enough = 20'000;
  const std::int64_t whole = std::clamp<std::int64_t>(matrix.nonzeros() * call.width(), 1, effort.most_products);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(call.share * static_cast<double>(whole)), std::min(whole, enough), whole);
}

/// Multiply-adds of a call, or of the sample of it that is run; at least 1.
std::uint64_t work_of(const KernelCall& call, const SparseMatrix& matrix, const EmulationEffort& effort) {
  return static_cast<std::uint64_t>(
      std::clamp<std::int64_t>(matrix.nonzeros() * call.width(), 1, most_products(call, matrix, effort)));
}

/// In another order, those of as many columns beside each other; the first stays the first.
std::vector<KernelCall> by_width(std::vector<KernelCall> calls) {
  const std::int64_t first = calls.front().width();
  std::ranges::stable_sort(calls, {}, [first](const KernelCall& call) { return call.width() == first ? 0 : call.width(); });
  return calls;
}

/// The kernel of a bundle on the emulated grid.
class KernelRun {
 public:
  KernelRun(const BundleUnderTest& bundle, const EmulationEffort& effort, VerificationReport& report, StageProgress& progress)
      : bundle_(bundle),
        effort_(effort),
        report_(report),
        progress_(progress),
        program_(compile_cuda(bundle.kernel_text, bundle.name + ".cu")) {}

  /// Calls that are forbidden, and calls on a device where something fails.
  void refuse(const SparseMatrix& matrix, const std::vector<KernelCall>& calls) {
    const KernelToEmulate kernel{program_, bundle_.name, bundle_.packed, matrix.rows, bundle_.dispatch};
    for (const std::string& problem : emulate_refusals(kernel, matrix.element, matrix.columns, matrix.nonzeros() != 0)) {
      report_.problems.push_back(problem);
    }
    std::vector<KernelCall> failing{calls.front()};
    std::ranges::copy_if(calls, std::back_inserter(failing), [](const KernelCall& call) { return !call.columns.empty(); });
    for (const std::string& problem : emulate_failures(kernel, matrix.element, matrix.columns, failing)) {
      report_.problems.push_back(problem);
    }
  }

  /// Makes a call with a matrix and its packed form, and compares.
  void make(const KernelCall& call, const SparseMatrix& matrix, std::span<const std::byte> packed) {
    if (report_.failed() && !effort_.whole_report) {
      return;
    }
    if (dense_bytes(matrix, call) > most_dense_bytes) {
      too_large_.push_back(&call);
      most_bytes_ = std::max(most_bytes_, dense_bytes(matrix, call));
      return;
    }
    try {
      run(call, matrix, packed);
    } catch (const std::bad_alloc&) {
      report_.skipped.push_back(fmt::format("{} was not run: this process has not enough addresses", print(call)));
    }
    done_ += work_of(call, matrix, effort_);
    progress_.reach(done_);
  }

  /// Says which calls have not been made.
  void say_what_is_left_out() {
    if (!too_large_.empty()) {
      const std::string others =
          too_large_.size() == 1 ? " was" : fmt::format(" and {} calls like it were", too_large_.size() - 1);
      report_.skipped.push_back(fmt::format("{}{} not run: B and C would take {} GiB", print(*too_large_.front()), others,
                                            most_bytes_ >> 30));
    }
  }

 private:
  /// B, in double and as the kernel gets it.
  struct Operands {
    Operands(const LoopNest& nest, const SparseMatrix& a, const ProductCase& product)
        : matrix(&a),
          columns(product.n),
          reference(nest, a, draw_b(a.columns, product, seed_of_b, a.element), product),
          b(a.element, reference.b()) {}

    const SparseMatrix* matrix;
    std::int64_t columns;
    Reference reference;
    TypedElements b;
  };

  /// Calls of as many columns have the same B.
  const Operands& operands_of(const KernelCall& call, const SparseMatrix& matrix) {
    if (!operands_ || operands_->matrix != &matrix || operands_->columns != call.width()) {
      operands_.emplace(bundle_.nest, matrix, call.compact());
    }
    return *operands_;
  }

  void run(const KernelCall& call, const SparseMatrix& matrix, std::span<const std::byte> packed) {
    const bool some_columns = !call.columns.empty();
    const PanelSample sample(packed, matrix.nonzeros() * call.width(), most_products(call, matrix, effort_));
    EmulationOptions options;
    if (!sample.covers_all() || some_columns) {
      options.select_blocks = [&](const LaunchInfo& launch) {
        return prepares_c(launch.kernel) ? preparing_blocks(call, launch.grid) : sampled_blocks(sample, call, launch.grid);
      };
    }
    options.after_block = [&, work = static_cast<double>(work_of(call, matrix, effort_))](
                              const std::string& kernel, std::uint64_t run, std::uint64_t all) {
      if (!prepares_c(kernel)) {
        progress_.reach(done_ + static_cast<std::uint64_t>(work * static_cast<double>(run) / static_cast<double>(all)));
      }
    };
    const Operands& operands = operands_of(call, matrix);
    const EmulatedProduct result = emulate_product(device_, {program_, bundle_.name, packed, matrix.rows, bundle_.dispatch}, call, operands.b,
                                                   options, some_columns);
    for (const std::string& problem : result.problems) {
      report_.problems.push_back(fmt::format("{}: {}", print(call), problem));
    }
    const std::vector<bool> rows = some_columns ? sample.rows_of_one_task() : sample.covers_all() ? std::vector<bool>() : sample.rows();
    report_.runs.push_back({call.product, operands.reference.compare(result.c, rows), call.reason});
  }

  const BundleUnderTest& bundle_;
  const EmulationEffort& effort_;
  VerificationReport& report_;
  StageProgress& progress_;
  HostProgram program_;
  EmulatedDevice device_;
  std::optional<Operands> operands_;  ///< those of the latest call
  std::uint64_t done_ = 0;
  std::vector<const KernelCall*> too_large_;
  std::int64_t most_bytes_ = 0;
};

}  // namespace

VerificationReport verify_by_emulation(const BundleUnderTest& bundle, const SparseMatrix& matrix,
                                       const EmulationEffort& effort, StageProgress& progress) {
  VerificationReport report{.method = "emulation", .tolerance = tolerance_of(matrix)};
  std::optional<OtherValues> other;
  if (matrix.nonzeros() <= effort.most_packed_nonzeros) {
    progress.begin("running the data-transformer on the emulated host");
    other = check_emulated_transformer(bundle, matrix, effort, report);
  } else {
    report.skipped.push_back(fmt::format("the transformer was not run: the matrix has more than {} non-zeros",
                                         effort.most_packed_nonzeros));
  }

  if (report.failed() && !effort.whole_report) {
    return report;
  }
  progress.begin("compiling the kernel for the emulated grid");
  KernelRun kernel(bundle, effort, report, progress);
  const std::vector<KernelCall> calls = by_width(kernel_calls(bundle.dispatch, matrix.rows, matrix.columns));
  KernelCall with_other_values = calls.front();
  with_other_values.reason = other_values_reason;
  with_other_values.share = part_of_a_product;
  std::uint64_t all_work = other ? work_of(with_other_values, matrix, effort) : 0;
  for (const KernelCall& call : calls) {
    all_work += work_of(call, matrix, effort);
  }
  progress.begin("running the kernel on the emulated grid", all_work);
  kernel.refuse(matrix, calls);
  for (const KernelCall& call : calls) {
    kernel.make(call, matrix, bundle.packed);
  }
  if (other) {
    kernel.make(with_other_values, other->matrix, other->packed);
  }
  kernel.say_what_is_left_out();
  return report;
}

}  // namespace esc
