// SPDX-License-Identifier: Apache-2.0
// Times generated kernels against cuBLASLt, cuSPARSE and a floor, on the GPU of this machine. What is timed is checked
// first.

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "generator/emit/layer.h"
#include "generator/support/error.h"
#include "generator/support/program_beside.h"
#include "tests/bench/esc_bench_measure.h"
#include "tests/bench/esc_bench_summary.h"
#include "tests/bench/esc_bench_table.h"
#include "tests/bench/gpu_program.h"
#include "tuner/gpu/rtc_build.h"

namespace esc::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// 64 bits that differ for different lists of schedules (FNV-1a).
std::string digest(const std::vector<Schedule>& schedules) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const Schedule& schedule : schedules) {
    for (const char letter : print(schedule) + "\n") {
      hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
    }
  }
  return fmt::format("{:016x}", hash);
}

/// The first line of a journal: what the numbers after it depend on.
std::string device_line(const Lab& lab) {
  const gpu::DeviceFacts& facts = lab.facts;
  const gpu::PeerLibraries& libraries = lab.libraries;
  const Options& options = lab.choice;
  nlohmann::json line{{"record", "device"},
                      {"device", facts.name},
                      {"architecture", facts.architecture},
                      {"multiprocessors", facts.multiprocessors},
                      {"l2_bytes", facts.l2_bytes},
                      {"clock_mhz", facts.clock_megahertz},
                      {"driver", facts.driver_version},
                      {"runtime", facts.runtime_version},
                      {"nvrtc", gpu::rtc_version()},
                      {"cublas", libraries.cublas_version()},
                      {"cusparse", libraries.cusparse_version()},
                      {"esc", tool_version},
                      {"schedules", options.schedules.empty()
                                        ? "default"
                                        : fmt::format("{}, {}", options.schedules.size(), digest(options.schedules))},
                      {"pdl", options.edges == EdgesTimed::both    ? "both"
                              : options.edges == EdgesTimed::plain ? "off"
                                                                   : "on"},
                      {"dtype", name_of(options.element)},
                      {"cold", options.cold},
                      {"peers", options.peers},
                      {"floor", options.floor}};
  // Said only where they are measured: a journal of a run without them can be gone on with.
  if (options.peers && libraries.cusparselt_absence().empty()) {
    line["cusparselt"] = libraries.cusparselt_version();
  }
  for (const std::shared_ptr<const PeerPlugin>& plugin : lab.plugins) {
    line["further_peers"].push_back(plugin->name());
  }
  return line.dump();
}

/// The pairs that a journal does not have complete.
std::vector<PairPlan> missing_pairs(const std::vector<PairPlan>& pairs, const std::vector<PairResult>& completed) {
  std::set<std::pair<std::string, std::int64_t>> done;
  for (const PairResult& pair : completed) {
    done.emplace(pair.matrix, pair.bcol);
  }
  std::vector<PairPlan> missing;
  for (const PairPlan& pair : pairs) {
    if (!done.contains({pair.matrix, pair.bcol})) {
      missing.push_back(pair);
    }
  }
  return missing;
}

/// Measures pair after pair, prints each, and keeps what came of them.
class Run {
 public:
  Run(const Options& options, Lab& lab, tuning::BuildPool& pool, std::vector<PairResult> completed)
      : options_(options),
        lab_(lab),
        pool_(pool),
        folder_(common_folder(options.matrices)),
        results_(std::move(completed)),
        pairs_(missing_pairs(options.pairs(), results_)),
        columns_{.peers = lab.peer_names(), .cold = options.cold} {
    for (const PairResult& pair : results_) {
      for (const auto& [name, peer] : pair.peers) {
        columns_.peers.insert(name);
      }
    }
  }

  ExitStatus operator()() {
    fmt::print("{}", pair_table_head(columns_));
    for (const PairResult& pair : results_) {
      show(pair);
    }
    try {
      measure_all();
    } catch (const gpu::DeviceError& error) {
      fmt::print(stderr, "esc-bench: the device has ceased to work: {}\n", error.what());
      status_ = ExitStatus::check_failed;
    }
    fmt::print("\n{}", summary_table(summarise(results_), columns_));
    return status_;
  }

 private:
  void measure_all() {
    Producer producer(options_, pairs_, lab_.facts.architecture, pool_);
    std::size_t finished = 0;
    std::unique_ptr<PairMeasurement> measurement;
    while (std::optional<Item> item = producer.next()) {
      if (options_.limit_seconds && seconds() > *options_.limit_seconds) {
        fmt::print(stderr, "esc-bench: stopped after {:.0f} seconds; {} of {} pairs were not measured\n", seconds(),
                   pairs_.size() - finished, pairs_.size());
        return;
      }
      if (!item->skipped.empty()) {
        fmt::print(stderr, "esc-bench: {}\n", item->skipped);
        if (item->unreadable && status_ == ExitStatus::done) {
          status_ = ExitStatus::bad_input;
        }
        ++finished;
        continue;
      }
      if (measurement == nullptr) {
        measurement = std::make_unique<PairMeasurement>(lab_, pairs_[item->pair], item->matrix);
        measurement->measure_peers();
      }
      if (!measurement->measure(item->candidate)) {
        status_ = ExitStatus::check_failed;
      }
      if (item->last) {
        keep(measurement->finish());
        measurement.reset();
        ++finished;
      }
    }
    if (!options_.quiet) {
      fmt::print(stderr, "esc-bench: {} pairs in {:.1f} seconds\n", finished, seconds());
    }
  }

  void keep(const PairResult& pair) {
    show(pair);
    results_.push_back(pair);
  }

  void show(const PairResult& pair) {
    if (pair.wrong + pair.failed > 0) {
      status_ = ExitStatus::check_failed;
    }
    fmt::print("{}",
               pair_table_row(pair, pair.matrix.starts_with(folder_) ? pair.matrix.substr(folder_.size()) : pair.matrix,
                              columns_));
    std::fflush(stdout);
  }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  const Options& options_;
  Lab& lab_;
  tuning::BuildPool& pool_;
  std::string folder_;
  std::vector<PairResult> results_;
  std::vector<PairPlan> pairs_;  ///< that are left to measure
  TableColumns columns_;
  ExitStatus status_ = ExitStatus::done;
  Clock::time_point begin_ = Clock::now();
};

ExitStatus run(int argc, char** argv) {
  const std::optional<Options> options = parse_options(argc, argv);
  if (!options) {
    return ExitStatus::done;
  }
  const Plugins plugins = load_peer_plugins(options->plugins);
  tuning::BuildPool pool({.program = program_beside_this("esctune-worker"), .arguments = {"build"}},
                         tuning::preparing_threads());
  const gpu::DeviceFacts facts = gpu::open_device();
  Journal journal;
  Lab lab(facts, *options, plugins, journal);
  const std::string first_line = device_line(lab);
  if (!options->json.empty()) {
    journal = options->resume ? Journal::resume(options->json, first_line) : Journal::create(options->json, first_line);
  }
  if (!options->quiet) {
    fmt::print(stderr, "esc-bench: {}\n", first_line);
    if (options->peers && !lab.libraries.cusparselt_absence().empty()) {
      fmt::print(stderr, "esc-bench: cuSPARSELt is not among the peers: {}\n", lab.libraries.cusparselt_absence());
    }
  }
  const ExitStatus status = Run(*options, lab, pool, journal.completed())();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw UserError("standard output", "cannot be written", "free some space, or write it elsewhere");
  }
  return status;
}

}  // namespace
}  // namespace esc::bench

int main(int argc, char** argv) {
  return esc::bench::run_gpu_program("esc-bench", [&] { return esc::bench::run(argc, argv); });
}
