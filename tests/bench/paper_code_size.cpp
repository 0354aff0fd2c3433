// SPDX-License-Identifier: Apache-2.0
// Lines of code and nvcc time with and without code compaction, over schedules (the paper's Fig. 8).

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <optional>

#include "generator/emit/generate.h"
#include "generator/emit/sources.h"
#include "generator/matrix/matrix_reader.h"
#include "generator/matrix/sample.h"
#include "generator/support/error.h"
#include "generator/verify/nvcc.h"

namespace esc {
namespace {

struct CodeSize {
  std::int64_t lines = 0;
  std::optional<double> nvcc_seconds;  ///< none without nvcc
};

/// The kernel of the matrix under the schedule: lines that are not blank, and how long nvcc takes for one architecture.
CodeSize measure(const SparseMatrix& matrix, AtomicSchedule schedule, int architecture, bool with_nvcc) {
  const GeneratedLayer generated = generate_layer(matrix, spmm_nest(),
                                                  {.name = "layer",
                                                   .source_file = "layer.smtx",
                                                   .bcol = 32LL * schedule.warptile,
                                                   .architectures = {architecture},
                                                   .choice = {schedule, "user"}});
  const std::string text = kernel_source(generated.layer);
  CodeSize size;
  for (std::size_t start = 0; start < text.size(); start = text.find('\n', start) + 1) {
    size.lines += text[start] != '\n' ? 1 : 0;
    if (text.find('\n', start) == std::string::npos) {
      break;
    }
  }
  if (with_nvcc) {
    const auto begin = std::chrono::steady_clock::now();
    kernel_resources(text, "layer", {architecture});
    size.nvcc_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  return size;
}

std::string seconds(const std::optional<double>& time) { return time ? fmt::format("{:.2f}", *time) : "-"; }

int run(int argc, char** argv) {
  CLI::App program("Lines of code and nvcc time with and without compaction (paper, Fig. 8)", "paper-code-size");
  std::string file;
  std::vector<int> ufis{1, 2, 3, 4, 5, 6};
  std::vector<int> ufks{1, 4, 8};
  int architecture = 90;
  program.add_option("--matrix", file, "Matrix file (default: a sample of 512 x 512 with 70 % zeros)");
  program.add_option("--ufi", ufis, "Values of UFi")->capture_default_str()->delimiter(',');
  program.add_option("--ufk", ufks, "Values of UFk")->capture_default_str()->delimiter(',');
  program.add_option("--arch", architecture, "CUDA architecture, 90 for sm_90")->capture_default_str();
  CLI11_PARSE(program, argc, argv);

  const SparseMatrix matrix =
      file.empty() ? sample_matrix({.rows = 512, .columns = 512, .sparsity = 0.7, .seed = 1}) : read_matrix(file);
  const bool with_nvcc = !find_nvcc().empty();
  if (!with_nvcc) {
    fmt::print(stderr, "nvcc is not on this machine: its times are left out\n");
  }
  fmt::print("| UFi | UFk | lines, compacted | lines, not | ratio | nvcc s, compacted | nvcc s, not |\n");
  fmt::print("| --- | --- | --- | --- | --- | --- | --- |\n");
  for (const int ufi : ufis) {
    for (const int ufk : ufks) {
      const CodeSize compact = measure(matrix, {.ufi = ufi, .ufk = ufk, .compaction = true}, architecture, with_nvcc);
      const CodeSize plain = measure(matrix, {.ufi = ufi, .ufk = ufk, .compaction = false}, architecture, with_nvcc);
      fmt::print("| {} | {} | {} | {} | {:.2f} | {} | {} |\n", ufi, ufk, compact.lines, plain.lines,
                 static_cast<double>(plain.lines) / static_cast<double>(compact.lines), seconds(compact.nvcc_seconds),
                 seconds(plain.nvcc_seconds));
      std::fflush(stdout);
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
    fmt::print(stderr, "paper-code-size: {}\n", problem.what());
    return static_cast<int>(problem.status());
  }
}
