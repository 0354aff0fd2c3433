// SPDX-License-Identifier: Apache-2.0
// Times kernels with bias and ReLU as their epilogue against what people do otherwise, on the GPU of this machine:
// cuBLASLt with its own epilogue, and the products of cuBLASLt and cuSPARSE with a second launch. What is timed is
// checked first.

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "generator/support/error.h"
#include "generator/support/means.h"
#include "generator/support/program_beside.h"
#include "tests/bench/epilogue_measure.h"
#include "tests/bench/gpu_program.h"
#include "tests/bench/matrix_files.h"

namespace esc::bench {
namespace {

/// The fastest of the others.
std::optional<double> best_of_others(const Outcome& outcome) {
  std::optional<double> best;
  for (std::size_t at = ways_of_ours; at < ways().size(); ++at) {
    if (const auto found = outcome.microseconds.find(ways()[at]);
        found != outcome.microseconds.end() && (!best || found->second < *best)) {
      best = found->second;
    }
  }
  return best;
}

std::string number(const std::vector<double>& values) {
  const std::optional<double> mean = geometric_mean(values);
  return mean ? fmt::format("{:.2f}", *mean) : "-";
}

/// The ways of ours that all are compared with.
constexpr std::array<std::size_t, 4> compared{0, 1, 4, 5};

/// Geometric means for one number of columns, each over the layers on which both are right, as a line of Markdown for
/// each way.
std::string table(std::int64_t bcol, const std::vector<std::pair<std::int64_t, Outcome>>& outcomes) {
  std::string text;
  for (std::size_t at = 0; at <= ways().size(); ++at) {
    std::vector<double> times;
    std::array<std::vector<double>, compared.size()> over;
    for (const auto& [columns, outcome] : outcomes) {
      const auto time_of = [&outcome](const std::string& way) -> std::optional<double> {
        const auto found = outcome.microseconds.find(way);
        return found == outcome.microseconds.end() ? std::nullopt : std::optional(found->second);
      };
      const std::optional<double> time = at == ways().size() ? best_of_others(outcome) : time_of(ways()[at]);
      if (columns != bcol || !time) {
        continue;
      }
      times.push_back(*time);
      for (std::size_t other = 0; other < compared.size(); ++other) {
        if (const std::optional<double> ours = time_of(ways()[compared[other]])) {
          over[other].push_back(*time / *ours);
        }
      }
    }
    text += fmt::format("| {} | {} | {} | {} |", bcol, at == ways().size() ? "best of the others" : ways()[at],
                        times.size(), number(times));
    for (const std::vector<double>& ratios : over) {
      const auto slower = std::ranges::count_if(ratios, [](double ratio) { return ratio > 1; });
      text +=
          at < ways_of_ours ? fmt::format(" {} |", number(ratios)) : fmt::format(" {} ({}) |", number(ratios), slower);
    }
    text += "\n";
  }
  return text;
}

ExitStatus run(int argc, char** argv) {
  CLI::App program(
      "Times kernels with bias and ReLU as their epilogue against cuBLASLt and cuSPARSE, each after a check.",
      "esc-bench-epilogue");
  std::vector<std::string> named;
  std::string list;
  std::string json;
  std::vector<std::int64_t> bcols{32, 64, 128};
  program.add_option("MATRIX", named, "Matrix files: .smtx, .mtx or .npy");
  program.add_option("--matrices", list, "File with one matrix file per line; # begins a comment");
  program.add_option("--bcol", bcols, "Columns of B, multiples of 4, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Validator(
          [](const std::string& text) {
            return text.size() < 6 && std::atoi(text.c_str()) > 0 && std::atoi(text.c_str()) % 4 == 0
                       ? ""
                       : "'" + text + "' is no multiple of 4";
          },
          "MULTIPLE OF 4"))
      ->capture_default_str();
  program.add_option("--json", json, "File for all times, one JSON object per layer and line");
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() != static_cast<int>(CLI::ExitCodes::Success)) {
      throw UserError("", problem.what(), "see esc-bench-epilogue --help");
    }
    program.exit(problem);
    return ExitStatus::done;
  }
  const std::vector<std::string> files = matrix_files(named, list);
  tuning::BuildPool pool({.program = program_beside_this("esctune-worker"), .arguments = {"build"}},
                         tuning::preparing_threads());
  const gpu::DeviceFacts facts = gpu::open_device();
  std::vector<Candidate> candidates(files.size() * bcols.size());
  tbb::parallel_for(std::size_t{0}, candidates.size(), [&](std::size_t at) {
    candidates[at] = prepare(files[at / bcols.size()], bcols[at % bcols.size()], facts.architecture, pool);
  });

  const EpilogueLab lab(facts.architecture);
  std::ofstream lines;
  if (!json.empty()) {
    lines.open(json);
    if (!lines) {
      throw UserError(json, "cannot be written", "give a file in a folder that is there");
    }
  }
  std::vector<std::pair<std::int64_t, Outcome>> outcomes;
  ExitStatus status = ExitStatus::done;
  for (const Candidate& candidate : candidates) {
    if (!candidate.problem.empty()) {
      fmt::print(stderr, "esc-bench-epilogue: {}, bCol {}: {}\n", candidate.matrix, candidate.bcol, candidate.problem);
      if (status == ExitStatus::done) {
        status = candidate.status;
      }
      continue;
    }
    const Outcome outcome = measure(candidate, lab);
    outcomes.emplace_back(candidate.bcol, outcome);
    if (outcome.wrong > 0) {
      status = ExitStatus::check_failed;
    }
    lines << nlohmann::json{{"matrix", candidate.matrix},
                            {"bcol", candidate.bcol},
                            {"us", outcome.microseconds},
                            {"algorithm", outcome.algorithm},
                            {"wrong", outcome.wrong}}
                 .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
          << std::endl;
  }
  fmt::print(
      "| bCol | way | layers | us | over ours, plain (layers on which ours is faster) | chain | over ours in nk, plain "
      "| chain |\n| "
      "--- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (const std::int64_t bcol : bcols) {
    fmt::print("{}", table(bcol, outcomes));
  }
  return status;
}

}  // namespace
}  // namespace esc::bench

int main(int argc, char** argv) {
  return esc::bench::run_gpu_program("esc-bench-epilogue", [&] { return esc::bench::run(argc, argv); });
}
