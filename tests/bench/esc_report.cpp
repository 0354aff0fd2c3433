// SPDX-License-Identifier: Apache-2.0
// Reads journals of esc-bench and makes of them the tables and pictures of the documentation.
//
//   esc-report steps                                    the ablation's schedules, as a list for esc-bench --space
//   esc-report ablation JOURNAL... [--svg FILE]         what each step is worth
//   esc-report sweep --bcol N JOURNAL... [--svg FILE]   times over the share of zeros

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "generator/support/error.h"
#include "generator/support/file.h"
#include "tests/bench/report_ablation.h"
#include "tests/bench/report_sweep.h"

namespace esc::bench {
namespace {

struct Options {
  std::vector<std::string> journals;
  std::string svg;
  std::int64_t bcol = 0;
};

void save(const LineChart& chart, const std::string& file) {
  if (!file.empty()) {
    write_file_whole(file, to_svg(chart));
  }
}

void print_steps() {
  for (const AblationStep& step : ablation_steps()) {
    if (!step.schedule.empty()) {
      fmt::print("# {}\n{}\n", step.name, step.schedule);
    }
  }
}

void report_ablation(const Options& options) {
  const Ablation result = ablation(read_measurements(options.journals));
  fmt::print("{}", print(result));
  save(chart(result), options.svg);
}

void report_sweep(const Options& options) {
  const LineChart result = sparsity_sweep(read_measurements(options.journals), options.bcol);
  fmt::print("{}", print(result));
  save(result, options.svg);
}

int run(int argc, char** argv) {
  CLI::App program("Tables and pictures from journals of esc-bench.", "esc-report");
  program.require_subcommand(1);
  Options options;
  program.add_subcommand("steps", "The ablation's schedules")->callback(print_steps);
  CLI::App* steps = program.add_subcommand("ablation", "What each step is worth");
  CLI::App* sweep = program.add_subcommand("sweep", "Times over the share of zeros");
  for (CLI::App* command : {steps, sweep}) {
    command->add_option("JOURNAL", options.journals, "JSON lines of esc-bench")->required();
    command->add_option("--svg", options.svg, "Draw it into this file");
  }
  sweep->add_option("--bcol", options.bcol, "Columns of B")->required();
  steps->callback([&] { report_ablation(options); });
  sweep->callback([&] { report_sweep(options); });
  CLI11_PARSE(program, argc, argv);
  return 0;
}

}  // namespace
}  // namespace esc::bench

int main(int argc, char** argv) {
  try {
    return esc::bench::run(argc, argv);
  } catch (const esc::UserError& error) {
    fmt::print(stderr, "esc-report: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "esc-report: a defect: {}\n", error.what());
    return 70;
  }
}
