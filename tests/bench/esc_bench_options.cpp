// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/esc_bench_options.h"

#include <CLI/CLI.hpp>
#include <map>

#include "generator/matrix/typed_elements.h"
#include "generator/schedule/schedule_list.h"
#include "generator/schedule/scheduler.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "tests/bench/matrix_files.h"

namespace esc::bench {
namespace {

constexpr std::int64_t most_columns = 1 << 20;

/// What the command line says, word for word.
struct Words {
  std::string dtype = "f32";
  std::vector<std::string> matrices;
  std::string matrix_list;
  std::vector<std::int64_t> bcols{32, 64, 128};
  std::vector<std::string> schedules;
  std::string space;
  std::string edges = "both";
  bool no_peers = false;
  bool no_floor = false;
};

std::vector<Schedule> schedules_of(const Words& words) {
  std::vector<Schedule> schedules;
  for (const std::string& text : words.schedules) {
    schedules.push_back(parse_schedule(text));
  }
  if (!words.space.empty()) {
    const std::vector<Schedule> space = parse_schedules(read_file(words.space), words.space);
    if (space.empty()) {
      throw UserError(words.space, "has no schedule", "give one per line");
    }
    schedules.insert(schedules.end(), space.begin(), space.end());
  }
  return without_repetitions(schedules);
}

}  // namespace

std::vector<PairPlan> Options::pairs() const {
  std::vector<PairPlan> result;
  for (const std::string& matrix : matrices) {
    for (const std::int64_t bcol : bcols) {
      result.push_back({matrix, bcol});
    }
  }
  return result;
}

std::vector<std::vector<Schedule>> Options::candidates_for(const LayerShape& shape) const {
  std::vector<std::vector<Schedule>> candidates;
  for (const Schedule& schedule : schedules) {
    candidates.push_back({schedule});
  }
  if (candidates.empty()) {
    const DeviceKey& device = shipped_database().head().key;
    std::vector<Schedule>& ranking = candidates.emplace_back();
    for (const ScheduleChoice& choice :
         ranked_schedules(shape, databases_for(shape, device, {&shipped_databases()}), kernel_target(device, {}))) {
      ranking.push_back(choice.schedule);
    }
  }
  return candidates;
}

std::optional<Options> parse_options(int argc, char** argv) {
  CLI::App program(
      "Times generated kernels, cuBLASLt, cuSPARSE, cuSPARSELt where it is installed and libraries of your own on the "
      "GPU of this machine, each after a check.",
      "esc-bench");
  program.footer(
      "Exit status: 0 done, 1 a kernel of ours was wrong or failed, 2 bad usage or input, 3 no GPU, 70 a defect.\n"
      "Example:\n  esc-bench --matrices layers.txt --bcol 32,64 --space schedules.txt --json times.jsonl");
  Words words;
  Options options;
  const std::map<std::string, EdgesTimed> edges{
      {"off", EdgesTimed::plain}, {"on", EdgesTimed::programmatic}, {"both", EdgesTimed::both}};
  program.add_option("MATRIX", words.matrices, "Matrix files: .smtx, .mtx or .npy");
  program.add_option("--matrices", words.matrix_list, "File with one matrix file per line; # begins a comment");
  program.add_option("--bcol", words.bcols, "Columns of B, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(std::int64_t{1}, most_columns))
      ->capture_default_str();
  program.add_option("--schedule", words.schedules, "A schedule; may be given several times (default: that of escgen)")
      ->allow_extra_args(false);
  program.add_option("--space", words.space, "File with one schedule per line; # begins a comment");
  program
      .add_option("--pdl", words.edges,
                  "Whether chains of programmatic dependent launches are timed: on, off, or both they and plain ones")
      ->check(CLI::IsMember({"on", "off", "both"}))
      ->capture_default_str();
  program
      .add_option("--dtype", words.dtype,
                  "Element type: f32, tf32, f16 or bf16; in 16 bits cuBLASLt has one product, in that type with sums "
                  "in float32, and there are no TF32 and no floor, of which tf32 has none either")
      ->check(CLI::IsMember({"f32", "tf32", "f16", "bf16"}))
      ->capture_default_str();
  program.add_flag("--cold", options.cold, "Time the best ones with nothing in the L2 cache, too");
  program.add_flag("--no-peers", words.no_peers,
                   "Leave cuBLASLt, cuSPARSE and cuSPARSELt out, but not what --peer names");
  program
      .add_option("--peer", options.plugins,
                  "A shared library with kernels that are measured, too, by the interface of "
                  "tests/bench/peer_plugin_interface.h; may be given several times")
      ->allow_extra_args(false);
  program.add_flag("--no-floor", words.no_floor, "Leave out the kernel that only moves the bytes");
  program.add_option("--limit-seconds", options.limit_seconds, "Stop, with what is complete, after so many seconds")
      ->check([](const std::string& text) {
        double seconds = 0;
        return CLI::detail::lexical_cast(text, seconds) && seconds > 0 ? "" : "'" + text + "' is not a positive number";
      });
  program.add_option("--json", options.json, "File for all measurements, one JSON object per line");
  program
      .add_flag("--resume", options.resume, "Go on with the file of --json; what it has complete is not measured again")
      ->needs("--json");
  program.add_flag("-q,--quiet", options.quiet, "Say nothing on standard error but errors");
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() != static_cast<int>(CLI::ExitCodes::Success)) {
      throw UserError("", problem.what(), "see esc-bench --help");
    }
    program.exit(problem);
    return std::nullopt;
  }
  options.matrices = matrix_files(words.matrices, words.matrix_list);
  options.bcols = words.bcols;
  options.schedules = schedules_of(words);
  options.element = *kernel_element(words.dtype);
  options.edges = edges.at(words.edges);
  options.peers = !words.no_peers;
  options.floor = !words.no_floor && options.element == ScalarType::f32;
  return options;
}

}  // namespace esc::bench
