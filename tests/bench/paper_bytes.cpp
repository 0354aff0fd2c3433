// SPDX-License-Identifier: Apache-2.0
// Bytes of CSR and of the packed format relative to dense, over sparsity (the paper's Fig. 10).

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "generator/matrix/matrix_reader.h"
#include "generator/matrix/sample.h"
#include "generator/matrix/statistics.h"
#include "generator/patterns/csr_view.h"
#include "generator/support/error.h"
#include "transformer/pack.h"

namespace esc {
namespace {

constexpr std::uint32_t heights[] = {1, 2, 3, 4, 6, 8};

void print_row(const std::string& label, const SparseMatrix& matrix) {
  const MatrixStatistics figures = statistics(matrix);
  const auto dense = static_cast<double>(figures.dense_bytes);
  fmt::print("| {} | {:.1f} | {:.3f} |", label, 100 * figures.sparsity, static_cast<double>(figures.csr_bytes) / dense);
  for (const std::uint32_t height : heights) {
    fmt::print(
        " {:.3f} |",
        static_cast<double>(transformer::plan(csr_view(matrix), transformer::ListCut{.height = height}).bytes) / dense);
  }
  fmt::print("\n");
}

int run(int argc, char** argv) {
  CLI::App program("Bytes of CSR and of the packed format relative to dense, over sparsity (paper, Fig. 10)",
                   "paper-bytes");
  std::int64_t rows = 512;
  std::int64_t columns = 512;
  std::vector<std::string> files;
  program.add_option("--rows", rows, "Rows of the samples")->capture_default_str();
  program.add_option("--cols", columns, "Columns of the samples")->capture_default_str();
  program.add_option("matrices", files, "Matrix files, in place of samples");
  CLI11_PARSE(program, argc, argv);

  fmt::print("| matrix | zeros, % | CSR |");
  for (const std::uint32_t height : heights) {
    fmt::print(" UFi {} |", height);
  }
  fmt::print("\n| --- | --- | --- |");
  for (std::size_t column = 0; column < std::size(heights); ++column) {
    fmt::print(" --- |");
  }
  fmt::print("\n");
  for (const std::string& file : files) {
    print_row(std::filesystem::path(file).filename().string(), read_matrix(file));
  }
  for (const double sparsity : {0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99}) {
    if (files.empty()) {
      print_row(fmt::format("sample {} x {}", rows, columns),
                sample_matrix({.rows = rows, .columns = columns, .sparsity = sparsity, .seed = 1}));
    }
  }
  return 0;
}

}  // namespace
}  // namespace esc

int main(int argc, char** argv) {
  try {
    return esc::run(argc, argv);
  } catch (const esc::UserError& problem) {
    fmt::print(stderr, "paper-bytes: {}\n", problem.what());
    return static_cast<int>(problem.status());
  }
}
