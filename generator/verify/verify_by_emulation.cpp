#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "generator/emulate/compile_program.h"
#include "generator/emulate/device.h"
#include "generator/support/error.h"
#include "generator/support/limits.h"
#include "generator/verify/emulated_product.h"
#include "generator/verify/emulated_transformer.h"
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

/// The bundle's own transformer must write the packed file, and nothing that is not its own.
void check_emulated_transformer(const BundleUnderTest& bundle, const SparseMatrix& matrix,
                                std::int64_t most_dense_elements, VerificationReport& report) {
  EmulatedTransformer transformer(bundle.transformer_text, bundle.name, matrix);
  TransformCheck check = check_transformer(transformer.functions(), matrix, most_dense_elements);
  report.problems = std::move(check.problems);
  for (const EmulationFault& fault : transformer.device().faults()) {
    report.problems.push_back("transformer: " + fault.message);
  }
  if (!std::ranges::equal(check.packed, bundle.packed)) {
    report.problems.push_back("the transformer does not write what the packed file holds");
  }
}

/// For a kernel that prepares C for whatever part of the product is then run.
std::vector<std::uint64_t> all_blocks(const Dim3& grid) {
  std::vector<std::uint64_t> blocks(grid.volume());
  std::iota(blocks.begin(), blocks.end(), std::uint64_t{0});
  return blocks;
}

bool prepares_c(const std::string& kernel) { return kernel.ends_with("_zero_rows"); }

/// Multiply-adds of a product, or of the sample of it that is run; at least 1.
std::uint64_t work_of(const ProductCase& product, const SparseMatrix& matrix, std::int64_t most_products) {
  return static_cast<std::uint64_t>(std::clamp<std::int64_t>(products_of(matrix, product), 1, most_products));
}

/// `done`: multiply-adds of the products in front of this one.
VerificationRun run_product(const BundleUnderTest& bundle, const HostProgram& program, const SparseMatrix& matrix,
                            const ProductCase& product, std::int64_t most_products, std::vector<std::string>& problems,
                            std::uint64_t done, StageProgress& progress) {
  const PanelSample sample(bundle.packed, products_of(matrix, product), most_products);
  EmulationOptions options;
  if (!sample.covers_all()) {
    options.select_blocks = [&](const LaunchInfo& launch) {
      return prepares_c(launch.kernel) ? all_blocks(launch.grid) : sample.blocks(launch.grid.x, launch.grid.y);
    };
  }
  options.after_block = [&, work = static_cast<double>(work_of(product, matrix, most_products))](
                            const std::string& kernel, std::uint64_t run, std::uint64_t all) {
    if (!prepares_c(kernel)) {
      progress.reach(done + static_cast<std::uint64_t>(work * static_cast<double>(run) / static_cast<double>(all)));
    }
  };
  const Reference reference(bundle.nest, matrix, draw_b(matrix.columns, product, seed_of_b, matrix.element), product);
  const EmulatedProduct result = emulate_product({program, bundle.name, bundle.packed, matrix.rows}, product,
                                                 TypedElements(matrix.element, reference.b()), options);
  for (const std::string& problem : result.problems) {
    problems.push_back(fmt::format("{}: {}", print(product), problem));
  }
  return {product, reference.compare(result.c, sample.covers_all() ? std::vector<bool>() : sample.rows())};
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
    check_emulated_transformer(bundle, matrix, effort.most_dense_elements, report);
  } else {
    report.skipped.push_back(fmt::format("the transformer was not run: the matrix has more than {} non-zeros",
                                         effort.most_packed_nonzeros));
  }

  progress.begin("compiling the kernel for the emulated grid");
  const HostProgram program = compile_cuda(bundle.kernel_text, bundle.name + ".cu");
  const std::vector<ProductCase> products = judging_cases(columns);
  std::uint64_t all_work = 0;
  for (const ProductCase& product : products) {
    all_work += work_of(product, matrix, effort.most_products);
  }
  progress.begin("running the kernel on the emulated grid", all_work);
  std::uint64_t done = 0;
  for (const ProductCase& product : products) {
    report.runs.push_back(
        run_product(bundle, program, matrix, product, effort.most_products, report.problems, done, progress));
    done += work_of(product, matrix, effort.most_products);
    progress.reach(done);
  }
  return report;
}

}  // namespace esc
