// SPDX-License-Identifier: Apache-2.0
#include "tuner/commands/tuning_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include "generator/commands/command.h"
#include "generator/commands/option_words.h"
#include "generator/matrix/typed_elements.h"
#include "generator/schedule/gone_schedules.h"
#include "generator/schedule/schedule_keys.h"
#include "generator/schedule/schedule_list.h"
#include "generator/schedule/scheduler.h"
#include "generator/schedule/search_space.h"
#include "generator/schedule/settings.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/number_in.h"
#include "generator/support/process.h"
#include "generator/support/program_beside.h"
#include "tuner/commands/known_records.h"
#include "tuner/records/gone_records.h"
#include "tuner/records/record_text.h"
#include "tuner/search/recorded_lab.h"
#include "tuner/space/cut_loss.h"
#include "tuner/space/near_winners.h"

namespace esc {
namespace {

using tuning::WorkerCommand;

/// As the worker that builds says: the name in one line, the setup in the next.
tuning::Compiler compiler_of(const std::filesystem::path& worker) {
  const ProcessResult result = run_process({worker.string(), "version"}, {.errors_apart = true});
  if (result.status != 0) {
    const std::string reason = result.errors.substr(0, result.errors.find('\n'));
    throw UserError(worker.string(), "does not run: " + reason, "install the libraries of a CUDA toolkit",
                    ExitStatus::missing_tool);
  }
  tuning::Compiler compiler;
  std::istringstream lines(result.output);
  std::getline(lines, compiler.name);
  std::getline(lines, compiler.setup);
  return compiler;
}

/// The schedules of a file, one a line. Throws UserError with the line.
std::vector<Schedule> schedules_in(const std::string& file) {
  const std::vector<Schedule> schedules = parse_schedules(read_file(file), file);
  if (schedules.empty()) {
    throw UserError(file, "has no schedule", "write one on each line");
  }
  return schedules;
}

/// Those that have kernels for the item.
std::vector<Schedule> legal_among(const std::vector<Schedule>& schedules, const tuning::WorkItem& item) {
  std::vector<Schedule> legal;
  std::ranges::copy_if(schedules, std::back_inserter(legal), [&](const Schedule& schedule) {
    return !is_gone(schedule, item.dtype) && is_accepted([&] { check_legal(schedule, item.product()); });
  });
  return legal;
}

/// What records have of an item, which a replay tries in place of the search space and compares with what held when
/// they were made.
class RecordedItems {
 public:
  RecordedItems(const std::string& file, const Console& console)
      : items_(file.empty() ? std::map<tuning::ItemKey, tuning::ItemResults>()
                            : tuning::group_by_item(read_known_records({file}, console))) {}

  /// The schedules of these families that this version knows, and that are legal; empty where nothing was recorded.
  std::vector<Schedule> schedules(const tuning::WorkItem& item, const std::set<std::string>& families) const {
    std::vector<Schedule> known;
    if (const tuning::ItemResults* const results = find(item)) {
      for (const auto& [text, result] : results->search) {
        if (families.contains(text.substr(0, text.find(':'))) && is_accepted([&] { parse_schedule(text); })) {
          known.push_back(parse_schedule(text));
        }
      }
    }
    return legal_among(known, item);
  }

  /// What held then; none where that is not known.
  std::optional<Schedule> incumbent(const tuning::WorkItem& item) const {
    const tuning::ItemResults* const results = find(item);
    if (results == nullptr || !results->decision) {
      return std::nullopt;
    }
    const std::string& text = results->decision->incumbent;
    const bool is_known = !is_gone(text, item.dtype) && is_accepted([&] { parse_schedule(text); });
    return is_known ? std::optional(parse_schedule(text)) : std::nullopt;
  }

 private:
  const tuning::ItemResults* find(const tuning::WorkItem& item) const {
    const auto found = items_.find(tuning::key_of(item));
    return found == items_.end() ? nullptr : &found->second;
  }

  std::map<tuning::ItemKey, tuning::ItemResults> items_;
};

/// What `--schedule auto` takes for the item where nothing else is known.
Schedule incumbent_of(const tuning::WorkItem& item) {
  return choose_schedule(tuning::shape_of(item), item.device).schedule;
}

std::set<std::string> families_of(const TuningLine& line) {
  return line.families.empty() ? usual_families() : std::set<std::string>(line.families.begin(), line.families.end());
}

/// Those that have kernels for the item.
std::set<std::string> families_of(const TuningLine& line, const tuning::WorkItem& item) {
  const std::set<std::string> families = families_for(families_of(line), item.dtype, item.nest.layout);
  if (families.empty()) {
    throw UserError(fmt::format("--families {}", fmt::join(line.families, ",")),
                    fmt::format("has no kernels for {} in layout {}", item.dtype, item.nest.layout),
                    "stream and atomic are for f32 and tf32, gather is for both in layout kn, and bitmap for f16 and "
                    "bf16; choose panel or rows");
  }
  return families;
}

}  // namespace

void add_device_options(CLI::App& command, TuningLine& line) {
  command.add_option("--gpus", line.gpus, "Numbers of the GPUs to measure on, 0,1 (default 0)")
      ->type_name("NUMBER,...")
      ->delimiter(',')
      ->check(CLI::Range(0, 1023));
  command
      .add_option("--replay", line.replay,
                  "Take measurements from these records in place of a GPU; what they have of a layer is what is tried")
      ->type_name("FILE");
  put_under(command, "Measuring", {"--gpus", "--replay"});
}

double seconds_in(const std::string& text) {
  const char unit = text.empty() ? '\0' : text.back();
  const double factor = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600 : 0;
  const double number = factor == 0 ? 0 : real_in(std::string_view(text).substr(0, text.size() - 1)).value_or(0);
  if (!(number > 0) || std::isinf(number)) {
    throw UserError("--budget " + text, "is not a time", "write it as in 90s, 20m or 2h");
  }
  return number * factor;
}

void add_tuning_options(CLI::App& command, TuningLine& line) {
  command
      .add_option("--families", line.families,
                  "Families of schedules to try: panel, rows, stream, gather, bitmap, atomic (default: panel, rows "
                  "and, where they have kernels, stream, gather and bitmap)")
      ->delimiter(',')
      ->check(one_of(schedule_family_names()));
  command
      .add_option("--dtype", line.dtype,
                  "Element type, f32, f64, tf32, f16 or bf16 (default: that of a file of 16 bits; f32 for others; the "
                  "one of --kernel)")
      ->check(one_of({"f32", "f64", "tf32", "f16", "bf16"}));
  command.add_option("--space", line.space, "Try the schedules in this file, one a line, in place of the search space")
      ->type_name("FILE");
  command.add_option("--candidates", line.most, "Measure at most this many candidates of a layer and bCol")
      ->type_name("NUMBER")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command.add_flag("--exhaustive", line.exhaustive,
                   "Leave no candidate out by a model, and say what that would have lost");
  command.add_flag("--cold", line.cold, "Measure with an L2 cache that holds nothing of the operands");
  command.add_flag("--no-libraries", line.no_peers, "Do not measure cuBLASLt, cuSPARSE and cuSPARSELt");
  auto* cache =
      command.add_option("--cache", line.cache, "Folder for compiled kernels (default ~/.cache/esc)")->type_name("DIR");
  command.add_flag("--no-cache", line.no_cache, "Keep no compiled kernels")->excludes(cache);
  command.add_option("--timeout", line.patience_seconds, "Seconds after which a candidate counts as hanging")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  add_device_options(command, line);
  put_under(command, "Search", {"--families", "--dtype", "--space", "--candidates", "--exhaustive"});
  put_under(command, "Measuring", {"--cold", "--no-libraries", "--cache", "--no-cache", "--timeout"});
}

std::optional<ScalarType> element_of(const TuningLine& line) {
  return line.dtype.empty() ? std::nullopt : kernel_element(line.dtype);
}

CandidateChoice::CandidateChoice(const TuningLine& line)
    : line_(line), space_(line.space.empty() ? std::vector<Schedule>() : schedules_in(line.space)) {}

tuning::Candidates CandidateChoice::operator()(const tuning::WorkItem& item) const {
  const Schedule incumbent = incumbent_of(item);
  if (!space_.empty()) {
    const std::vector<Schedule> always = line_.only_space ? std::vector<Schedule>() : std::vector{incumbent};
    return tuning::choose_candidates(legal_among(space_, item), item, {}, always, true);
  }
  const std::set<std::string> families = families_of(line_, item);
  std::vector<Schedule> always{incumbent};
  for (const ScheduleDatabase* const database :
       databases_for(tuning::shape_of(item), item.device, {&shipped_databases()})) {
    const std::vector<Schedule> winners = tuning::near_winners(*database, item, families);
    always.insert(always.end(), winners.begin(), winners.end());
  }
  return tuning::choose_candidates(search_space(item.product(), families, item.layer.sparse24), item,
                                   {.most = line_.most}, always, line_.exhaustive);
}

std::string loss_of_cuts(const TuningLine& line, const std::string& journal) {
  return print(tuning::cut_loss(tuning::group_by_item(tuning::without_gone(tuning::read_records({journal}))),
                                {.most = line.most}));
}

tuning::RunRequest request_for(const TuningLine& line, std::vector<tuning::ItemRequest> items, tuning::Retry retry,
                               const Console& console) {
  const auto recorded = std::make_shared<const RecordedItems>(line.replay, console);
  return {.items = std::move(items),
          .cache = line.cold ? CacheState::cold : CacheState::warm,
          .retry = retry,
          .search = {.peers = !line.no_peers && !line.only_space,
                     .decided_by = line.only_space ? tuning::DecidedBy::nothing : tuning::DecidedBy::final},
          .candidates =
              [choose = CandidateChoice(line), recorded, line](const tuning::WorkItem& item) {
                std::vector<Schedule> schedules =
                    line.space.empty() ? recorded->schedules(item, families_of(line, item)) : std::vector<Schedule>();
                if (!schedules.empty()) {
                  return schedules;
                }
                for (const tuning::Candidate& candidate : choose(item).kept) {
                  schedules.push_back(candidate.schedule);
                }
                return schedules;
              },
          .incumbent =
              [recorded](const tuning::WorkItem& item) {
                const std::optional<Schedule> held = recorded->incumbent(item);
                return held ? *held : incumbent_of(item);
              }};
}

Devices::Devices(const TuningLine& line) : line_(line) {
  if (std::isnan(line.patience_seconds)) {
    throw UserError("--timeout", "is not a number", "give a number of seconds");
  }
  if (std::set<int>(line.gpus.begin(), line.gpus.end()).size() < line.gpus.size()) {
    throw UserError("--gpus", "names a GPU twice", "name each once: two processes on one GPU spoil each other's times");
  }
  if (!line.replay.empty()) {
    records_ = tuning::read_records({line.replay});
    rates_ = tuning::read_rates(line.replay);
    return;
  }
  const std::filesystem::path worker = program_beside_this("esctune-worker");
  const std::filesystem::path folder =
      line.cache.empty() ? tuning::default_cache_folder() : std::filesystem::path(line.cache);
  if (!line.no_cache && !folder.empty()) {
    cache_ = std::make_unique<tuning::ObjectCache>(folder);
  }
  pool_ = std::make_unique<tuning::BuildPool>(WorkerCommand{.program = worker, .arguments = {"build"}},
                                              tuning::preparing_threads());
  builders_ = tuning::make_builders(*pool_, cache_.get(), compiler_of(worker));
}

std::vector<tuning::LabFactory> Devices::labs() const {
  if (!builders_) {
    return {[this] { return std::make_unique<tuning::RecordedLab>(records_, rates_); }};
  }
  const std::vector<int> gpus = line_.gpus.empty() ? std::vector<int>{0} : line_.gpus;
  const auto threads = std::max<std::size_t>(1, static_cast<std::size_t>(tuning::preparing_threads()) / gpus.size());
  const tuning::Patience patience{.candidate =
                                      std::chrono::milliseconds(static_cast<long long>(1000 * line_.patience_seconds))};
  const auto cuts = line_.exhaustive || !line_.space.empty() ? tuning::OccupancyCuts::off : tuning::OccupancyCuts::on;
  std::vector<tuning::LabFactory> labs;
  for (const int gpu : gpus) {
    // The process sees that GPU alone, as its first one. Without --gpus it sees what this process sees.
    WorkerCommand command{.program = program_beside_this("esctune-worker"), .arguments = {"measure"}};
    if (!line_.gpus.empty()) {
      command.environment.push_back("CUDA_VISIBLE_DEVICES=" + std::to_string(gpu));
    }
    labs.emplace_back([this, command, threads, patience, cuts] {
      return std::make_unique<tuning::DeviceLab>(command, *builders_, threads, patience, cuts);
    });
  }
  return labs;
}

}  // namespace esc
