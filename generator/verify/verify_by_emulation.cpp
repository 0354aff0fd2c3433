#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "generator/support/error.h"
#include "generator/support/limits.h"
#include "generator/verify/confined_kernel.h"
#include "generator/verify/confined_transformer.h"
#include "generator/verify/panel_sample.h"
#include "generator/verify/transformer_check.h"
#include "generator/verify/verify.h"

namespace esc {
namespace {

constexpr std::uint64_t seed_of_b = 1;

/// What the rows of B and C are longer than the product is wide, at most.
constexpr std::int64_t widest_gap = 9;

/// With how many columns of B the bundle is checked: with as many as it was made for, unless that is too much. Throws
/// UserError where one is too much.
std::int64_t checked_columns(const BundleUnderTest& bundle, const SparseMatrix& matrix) {
  const std::int64_t column_bytes = bytes_of(matrix.element) * (matrix.columns + matrix.rows);
  const std::int64_t fitting = most_checked_bytes / column_bytes - widest_gap;
  if (fitting < 1) {
    throw UserError(
        bundle.name,
        fmt::format("cannot be checked by emulation: B and C of {} rows and columns together take more than {} MiB",
                    matrix.columns + matrix.rows, most_checked_bytes >> 20),
        "check it on a GPU (generate --no-verify, then verify --device gpu), or cut the matrix into parts");
  }
  return std::min({bundle.bcol, most_checked_columns, fitting});
}

/// What the emulation of a row costs at least, in multiply-adds of a column: its threads run though it is empty.
constexpr std::int64_t row_products = 8;

/// Multiply-adds of a product, as the emulation counts them.
std::int64_t products_of(const SparseMatrix& matrix, const ProductCase& product) {
  return std::max(matrix.nonzeros(), row_products * matrix.rows) * product.n;
}

/// What a text may use up beside what its work needs: time on a machine that is slow and busy, and the emulator's notes on
/// each element.
Allowance allowance_for(const EmulationEffort& effort, std::uint64_t steps, std::int64_t bytes) {
  constexpr std::uint64_t steps_of_a_millisecond = 100;
  return {.time = effort.patience + std::chrono::milliseconds(steps / steps_of_a_millisecond),
          .memory = effort.memory + 8 * static_cast<std::uint64_t>(bytes)};
}

/// The bundle's own transformer must write the packed file, and nothing that is not its own.
void check_confined_transformer(const BundleUnderTest& bundle, const SparseMatrix& matrix, const EmulationEffort& effort,
                                VerificationReport& report) {
  const std::int64_t dense = matrix.rows * matrix.columns;
  const std::int64_t packed_elements = matrix.nonzeros() + (dense <= effort.most_dense_elements ? dense : 0);
  const Allowance allowance =
      allowance_for(effort, static_cast<std::uint64_t>(packed_elements),
                    16 * packed_elements + static_cast<std::int64_t>(bundle.packed.size()));
  ConfinedTransformer transformer(bundle.transformer_text, bundle.name, matrix, bundle.packed.size(),
                                  effort.most_dense_elements, allowance);
  if (transformer.packed_bytes() != bundle.packed.size()) {
    report.problems.push_back(fmt::format("the transformer writes {} bytes, the packed file has {}",
                                          transformer.packed_bytes(), bundle.packed.size()));
  } else {
    TransformCheck check = check_transformer(transformer.functions(), matrix, effort.most_dense_elements);
    report.problems = std::move(check.problems);
    if (!std::ranges::equal(check.packed, bundle.packed)) {
      report.problems.push_back("the transformer does not write what the packed file holds");
    }
  }
  for (const std::string& fault : transformer.faults()) {
    report.problems.push_back("transformer: " + fault);
  }
}

/// Multiply-adds of a product, or of the sample of it that is run; at least 1.
std::uint64_t work_of(const ProductCase& product, const SparseMatrix& matrix, std::int64_t most_products) {
  return static_cast<std::uint64_t>(std::clamp<std::int64_t>(products_of(matrix, product), 1, most_products));
}

/// `number`: of the product in the kernel's task. The kernel has only been asked for C: the reference, and the judgement, are
/// of this process.
VerificationRun run_product(const BundleUnderTest& bundle, ConfinedKernel& kernel, const SparseMatrix& matrix,
                            const ProductCase& product, std::size_t number, std::int64_t most_products,
                            std::vector<std::string>& problems, const ConfinedKernel::Progress& progress) {
  const PanelSample sample(bundle.packed, products_of(matrix, product), most_products);
  const Reference reference(bundle.nest, matrix, draw_b(matrix.columns, product, seed_of_b, matrix.element), product);
  const EmulatedProduct result = kernel.multiply(number, TypedElements(matrix.element, reference.b()), progress);
  for (const std::string& problem : result.problems) {
    problems.push_back(fmt::format("{}: {}", print(product), problem));
  }
  return {product, reference.compare(result.c, sample.covers_all() ? std::vector<bool>() : sample.rows())};
}

/// Bytes of B and C together.
std::int64_t dense_bytes(const SparseMatrix& matrix, const ProductCase& product) {
  return bytes_of(matrix.element) * (matrix.columns * product.ldb + matrix.rows * product.ldc);
}

/// Judges the kernel by the products for so many columns.
void check_confined_kernel(const BundleUnderTest& bundle, const SparseMatrix& matrix, std::int64_t columns,
                           const EmulationEffort& effort, VerificationReport& report, StageProgress& progress) {
  const std::vector<ProductCase> products = judging_cases(columns);
  std::vector<std::int64_t> multiply_adds;
  std::uint64_t all_work = 0;
  std::int64_t most_bytes = 0;
  for (const ProductCase& product : products) {
    multiply_adds.push_back(products_of(matrix, product));
    all_work += work_of(product, matrix, effort.most_products);
    most_bytes = std::max(most_bytes, dense_bytes(matrix, product));
  }
  const KernelTask task{bundle.kernel_text, bundle.name,   bundle.packed,       matrix,
                        products,           multiply_adds, effort.most_products};
  ConfinedKernel kernel(task, allowance_for(effort, all_work, most_bytes));
  progress.begin("running the kernel on the emulated grid", all_work);
  std::uint64_t done = 0;
  for (std::size_t number = 0; number < products.size(); ++number) {
    const std::uint64_t work = work_of(products[number], matrix, effort.most_products);
    report.runs.push_back(run_product(
        bundle, kernel, matrix, products[number], number, effort.most_products, report.problems,
        [&](std::uint64_t run, std::uint64_t all) {
          progress.reach(done + static_cast<std::uint64_t>(static_cast<double>(work) * static_cast<double>(run) /
                                                           static_cast<double>(std::max<std::uint64_t>(all, 1))));
        }));
    done += work;
    progress.reach(done);
  }
}

/// Whatever a text does to the process that runs it is a problem of the bundle.
template <typename Check>
void judge(const std::string& file, std::vector<std::string>& problems, const Check& check) {
  try {
    check();
  } catch (const ConfinedEnd& end) {
    problems.push_back(fmt::format("{} {}", file, end.what()));
  }
}

}  // namespace

VerificationReport verify_by_emulation(const BundleUnderTest& bundle, const SparseMatrix& matrix,
                                       const EmulationEffort& effort, StageProgress& progress) {
  VerificationReport report{.method = "emulation", .tolerance = tolerance_of(matrix)};
  const std::int64_t columns = checked_columns(bundle, matrix);
  if (columns < bundle.bcol) {
    report.skipped.push_back(
        fmt::format("n {} was not run, which takes too long or too much memory, but n {}", bundle.bcol, columns));
  }
  if (matrix.nonzeros() <= effort.most_packed_nonzeros) {
    progress.begin("running the data-transformer on the emulated host");
    judge(bundle.name + "_transformer.cpp", report.problems,
          [&] { check_confined_transformer(bundle, matrix, effort, report); });
  } else {
    report.skipped.push_back(fmt::format("the transformer was not run: the matrix has more than {} non-zeros",
                                         effort.most_packed_nonzeros));
  }
  progress.begin("compiling the kernel for the emulated grid");
  judge(bundle.name + ".cu", report.problems,
        [&] { check_confined_kernel(bundle, matrix, columns, effort, report, progress); });
  return report;
}

}  // namespace esc
