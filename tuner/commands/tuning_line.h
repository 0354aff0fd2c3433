// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "generator/commands/console.h"
#include "generator/ir/scalar_type.h"
#include "tuner/build/object_cache.h"
#include "tuner/device/device_lab.h"
#include "tuner/records/device_rates.h"
#include "tuner/run/tuning_run.h"
#include "tuner/space/cuts.h"

namespace esc {

/// Most columns of B, as in escgen.
constexpr long long most_columns = most_columns_of_b;

/// What `run` and `layer` both let the user say about how candidates are chosen and measured.
struct TuningLine {
  std::string dtype;  ///< of the elements; empty: the nest's
  std::vector<std::string> families;
  std::string space;        ///< file of schedules in place of the search space
  bool only_space = false;  ///< whether they alone are measured: no libraries, no incumbent, and nothing is decided
  std::size_t most = 120;   ///< candidates of an item
  bool exhaustive = false;
  bool cold = false;
  bool no_peers = false;
  bool no_cache = false;
  std::string cache;             ///< folder; empty: the user's own
  double patience_seconds = 10;  ///< for a candidate
  std::string replay;            ///< records in place of a GPU
  std::vector<int> gpus;         ///< empty: the first one
};

/// Seconds in "90s", "20m" or "2h" after --budget. Throws UserError for anything else.
double seconds_in(const std::string& text);

/// Adds those of the options to a command that say where candidates are measured: --gpus and --replay.
void add_device_options(CLI::App& command, TuningLine& line);

/// Adds all of them, but what `layer` alone has.
void add_tuning_options(CLI::App& command, TuningLine& line);

/// The type that --dtype names; none where it names none.
std::optional<ScalarType> element_of(const TuningLine& line);

/// What is tried for an item, and what is not.
class CandidateChoice {
 public:
  /// Throws UserError for a file of schedules that cannot be used.
  explicit CandidateChoice(const TuningLine& line);

  tuning::Candidates operator()(const tuning::WorkItem& item) const;

 private:
  TuningLine line_;
  std::vector<Schedule> space_;  ///< of the file; empty where there is none
};

/// What the models that --exhaustive switches off would have lost on the items of a journal, in words.
std::string loss_of_cuts(const TuningLine& line, const std::string& journal);

/// What a run of these options is about; says what of the records that it replays is left out. Throws UserError for a
/// file of schedules that cannot be used.
tuning::RunRequest request_for(const TuningLine& line, std::vector<tuning::ItemRequest> items, tuning::Retry retry,
                               const Console& console);

/// The devices of a run with what they share: the processes that build, and the cache.
class Devices {
 public:
  /// Throws UserError for GPUs, a cache or a record that cannot be used, and where the worker program is missing.
  explicit Devices(const TuningLine& line);

  /// One for each GPU, or the recorded one.
  std::vector<tuning::LabFactory> labs() const;

 private:
  TuningLine line_;
  std::vector<tuning::Record> records_;
  std::vector<tuning::RatesRecord> rates_;
  std::unique_ptr<tuning::ObjectCache> cache_;
  std::unique_ptr<tuning::BuildPool> pool_;
  std::optional<tuning::Builders> builders_;
};

}  // namespace esc
