// SPDX-License-Identifier: Apache-2.0
// Checks compiled bundles on the GPU of this machine against float64 references. Made to be copied to a GPU host: needs
// neither Clang nor a toolkit there, only the CUDA runtime as a shared library. Beside the libraries is
// predecessor.so, the kernel before each product (generator/verify/predecessor.cu).
//
//   device-check LIST     each line of LIST: LIBRARY NAME MATRIX BCOL TYPE, with f32, f64, f16, bf16 or tf32 for the
// elements
//
// NAME.nest.json beside a library is the bundle's loop nest as escgen nest prints it; without it, it is the plain
// product.
//
// Prints one line per bundle that fails, a summary by bCol, and a closing line. Exit status 0: all passed, 1: some
// failed, 2: bad usage, 3: no GPU.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "generator/ir/nest_json.h"
#include "generator/ir/print_function.h"
#include "generator/ir/product_digits.h"
#include "generator/matrix/block_diagonal.h"
#include "generator/matrix/typed_elements.h"
#include "generator/model/read_elements.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/verify/described_layer.h"
#include "generator/verify/gpu_check.h"
#include "generator/verify/predecessor.h"
#include "generator/verify/verify.h"

namespace esc {
namespace {

struct BundleLine {
  std::string library;
  std::string name;
  std::string matrix;
  std::int64_t bcol = 0;
  std::string type;
};

std::vector<BundleLine> read_list(const std::string& file) {
  std::ifstream stream(file);
  std::vector<BundleLine> lines;
  for (BundleLine line; stream >> line.library >> line.name >> line.matrix >> line.bcol >> line.type;) {
    lines.push_back(line);
  }
  if (!stream.eof() || lines.empty()) {
    throw UserError(file, "is not a list of bundles", "write LIBRARY NAME MATRIX BCOL TYPE in each line");
  }
  return lines;
}

/// That of the bundle, whose folder is beside its library.
std::string manifest_file_of(const BundleLine& line) {
  return (std::filesystem::path(line.library).parent_path() / line.name / "manifest.json").string();
}

/// The bundle's loop nest, which must be the one that its manifest shows.
LoopNest nest_beside(const BundleLine& line, const Manifest& manifest, ScalarType element) {
  const std::filesystem::path file = std::filesystem::path(line.library).parent_path() / (line.name + ".nest.json");
  const LoopNest nest =
      std::filesystem::exists(file) ? parse_nest_json(read_file(file), file.string()) : spmm_nest(element);
  if (print_function(nest) != manifest.loop_nest) {
    throw UserError(file.string(), "is not the loop nest of the bundle's manifest",
                    "print it with escgen nest, with the options of escgen generate");
  }
  return nest;
}

struct Tally {
  int passed = 0;
  int failed = 0;
  int products = 0;
  double largest_error = 0;
  double largest_share_of_tolerance = 0;

  void add(const VerificationReport& report) {
    (report.passed() ? passed : failed) += 1;
    products += static_cast<int>(report.runs.size());
    for (const VerificationRun& run : report.runs) {
      largest_error = std::max(largest_error, run.comparison.error);
      largest_share_of_tolerance =
          std::max(largest_share_of_tolerance, run.comparison.error / report.tolerance_of(run));
    }
  }
};

void print_tally(const std::string& label, const Tally& tally) {
  fmt::print("{:>6} {:>8} {:>8} {:>10} {:>14.2e} {:>20.2f}\n", label, tally.passed, tally.failed, tally.products,
             tally.largest_error, tally.largest_share_of_tolerance);
}

int run(const std::string& list) {
  std::map<std::int64_t, Tally> by_bcol;
  Tally all;
  std::string matrix_file;
  SparseMatrix matrix;
  for (const BundleLine& line : read_list(list)) {
    const std::optional<ScalarType> known = kernel_element(line.type);
    if (!known) {
      throw UserError(list, "has the type " + line.type, "write " + kernel_element_words());
    }
    const ScalarType element = *known;
    if (line.matrix != matrix_file || element != matrix.element) {
      matrix = read_elements(line.matrix, element);
      matrix_file = line.matrix;
    }
    const std::string manifest_file = manifest_file_of(line);
    const Manifest manifest = parse_manifest(read_file(manifest_file), manifest_file);
    const LoopNest nest = nest_beside(line, manifest, element);
    const SparseMatrix product = block_diagonal(matrix, digits_of(nest));
    const BundleLibrary library(line.library, line.name);
    const std::filesystem::path predecessor = std::filesystem::path(line.library).parent_path() / predecessor_library;
    const GeneratedLayer layer = described_layer(manifest, product, nest, manifest_file);
    const VerificationReport report = check_on_gpu(library, predecessor, nest, product, dispatch_of(layer.layer));
    by_bcol[line.bcol].add(report);
    all.add(report);
    if (!report.passed()) {
      fmt::print("FAILED {} ({}, bCol {})\n{}", line.name, line.matrix, line.bcol, print(report));
    }
  }
  fmt::print("{:>6} {:>8} {:>8} {:>10} {:>14} {:>20}\n", "bCol", "passed", "failed", "products", "largest error",
             "share of tolerance");
  for (const auto& [bcol, tally] : by_bcol) {
    print_tally(fmt::format("{}", bcol), tally);
  }
  print_tally("all", all);
  fmt::print("{} passed, {} failed\n", all.passed, all.failed);
  return all.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace esc

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: device-check LIST\n");
    return 2;
  }
  try {
    return esc::run(argv[1]);
  } catch (const esc::UserError& problem) {
    fmt::print(stderr, "device-check: {}\n", problem.what());
    return static_cast<int>(problem.status());
  }
}
