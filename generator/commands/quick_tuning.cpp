// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/quick_tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string_view>

#include "generator/commands/input.h"
#include "generator/ir/nest_json.h"
#include "generator/schedule/known_devices.h"
#include "generator/support/file.h"
#include "generator/support/number_in.h"
#include "generator/support/process.h"
#include "generator/support/program_beside.h"
#include "generator/support/strict_json.h"
#include "generator/support/temporary_folder.h"

namespace esc {
namespace {

/// What esctune says of why it failed.
std::string reason_in(const ProcessResult& answer) {
  constexpr std::string_view prefix = "esctune: ";
  std::istringstream lines(answer.errors);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(prefix)) {
      return line.substr(prefix.size());
    }
  }
  return fmt::format("esctune has ended with status {}", answer.status);
}

/// Its status where that is one of an error, else that of what does not work on this machine.
ExitStatus status_of(const ProcessResult& answer) {
  for (const ExitStatus known : {ExitStatus::check_failed, ExitStatus::bad_input}) {
    if (answer.status == static_cast<int>(known)) {
      return known;
    }
  }
  return ExitStatus::missing_tool;
}

UserError foreign_answer(const std::filesystem::path& esctune) {
  return {esctune.string(), "answers what this program does not understand", "install both programs of one version",
          ExitStatus::missing_tool};
}

/// What esctune prints with --json. A failure with results is none: they say what became of each candidate.
nlohmann::json ask(const std::filesystem::path& esctune, std::vector<std::string> words) {
  words.insert(words.begin(), esctune.string());
  words.insert(words.end(), {"--json", "--quiet"});
  const ProcessResult answer = run_process(words, {.errors_apart = true});
  const bool has_failed = answer.status != static_cast<int>(ExitStatus::done) &&
                          (answer.status != static_cast<int>(ExitStatus::check_failed) || answer.output.empty());
  if (has_failed) {
    throw UserError("", reason_in(answer), {}, status_of(answer));
  }
  const std::optional<nlohmann::json> results = json_in(answer.output);
  return results ? *results : throw foreign_answer(esctune);
}

/// Four significant digits, more than a median is good for.
double rounded(double microseconds) { return real_in(fmt::format("{:.3e}", microseconds)).value(); }

/// The candidate as esctune's answer has it, which lists all of them by their text.
MeasuredCandidate candidate_in(const nlohmann::json& answers, const Schedule& schedule) {
  const std::string text = print(schedule);
  const auto found =
      std::ranges::find_if(answers, [&](const nlohmann::json& answer) { return answer.at("schedule") == text; });
  if (found == answers.end()) {
    return {.schedule = text, .outcome = "skipped-by-limit", .detail = "was not measured"};
  }
  MeasuredCandidate candidate{.schedule = text, .outcome = found->at("outcome"), .detail = found->at("detail")};
  candidate.microseconds = candidate.is_right() ? rounded(found->at("microseconds").get<double>()) : 0;
  return candidate;
}

/// Says which candidates are left out. Throws UserError where all are.
void report(const TuningRecord& record, const Console& console) {
  const auto what_became_of = [](const MeasuredCandidate& candidate) {
    return candidate.outcome + (candidate.detail.empty() ? "" : ", " + candidate.detail);
  };
  for (const MeasuredCandidate& candidate : record.candidates) {
    if (!candidate.is_right()) {
      console.say(fmt::format("{}, N = {}: left out: {}: {}", record.layer, record.bcol, candidate.schedule,
                              what_became_of(candidate)));
    }
  }
  if (record.fastest_first().empty()) {
    throw UserError("--tune quick",
                    fmt::format("none of the {} candidates for {}, N = {}, was right on one {}; the first: {}",
                                record.candidates.size(), record.layer, record.bcol, record.device_name,
                                what_became_of(record.candidates.front())),
                    "leave --tune out, or name a schedule with --schedule", ExitStatus::check_failed);
  }
}

}  // namespace

QuickTuner::QuickTuner(TuningJournals journals, const KnownDevices& known)
    : esctune_(program_beside_this("esctune")), journals_(std::move(journals)) {
  const nlohmann::json answer = ask(esctune_, with_device({"devices"}));
  try {
    const nlohmann::json& device = answer.at("devices").at(0);
    device_ = parse_device_key(device.at("key").get<std::string>());
    device_name_ = device.at("name");
  } catch (const nlohmann::json::exception&) {
    throw foreign_answer(esctune_);
  }
  const Device* const device = known.find(device_);
  gpu_ = device != nullptr ? device->name : device_name_;
}

std::string QuickTuner::device_text() const { return fmt::format("one {} ({})", device_name_, print(device_)); }

std::vector<std::string> QuickTuner::with_device(std::vector<std::string> words) const {
  if (!journals_.replay.empty()) {
    words.insert(words.end(), {"--replay", journals_.replay});
  }
  return words;
}

void QuickTuner::require_here(const TargetDevice& wanted) const {
  if (!may_be(wanted.key, device_)) {
    throw UserError(
        fmt::format("{} {}", is_architecture(wanted) ? "--arch" : "--gpu", wanted.name),
        fmt::format("is not the GPU that --tune quick measures on, {}", device_text()),
        journals_.replay.empty() ? "tune where that GPU is, or leave --tune out" : "give a journal of that GPU",
        journals_.replay.empty() ? ExitStatus::missing_tool : ExitStatus::bad_input);
  }
}

LayerRequest QuickTuner::for_this_gpu(LayerRequest request) const {
  if (request.devices.empty()) {
    request.devices = {{gpu_, device_}};
  }
  require_here(request.devices.front());
  return request;
}

LayerRequest QuickTuner::for_this_gpu_alone(LayerRequest request) const {
  request = for_this_gpu(std::move(request));
  std::ranges::for_each(request.devices, [this](const TargetDevice& device) { require_here(device); });
  return request;
}

TuningRecord QuickTuner::measure(const LayerRequest& request, const LoopNest& nest,
                                 const std::vector<Schedule>& candidates, const Console& console) const {
  const TemporaryFolder workshop;
  const std::filesystem::path nest_file = workshop.path() / "layer.nest.json";
  const std::filesystem::path space = workshop.path() / "candidates.txt";
  write_file_whole(nest_file, nest_json(nest) + "\n");
  std::string lines;
  for (const Schedule& candidate : candidates) {
    lines += print(candidate) + "\n";
  }
  write_file_whole(space, lines);
  // Values do not matter to a speed, so that esctune draws its own for a file of patterns alone. Layers of a network
  // are read from memory: all of them together are larger than the cache.
  std::vector<std::string> words =
      with_device({"layer", request.matrix, "--bcol", std::to_string(request.bcol), "--kernel", nest_file.string(),
                   "--space", space.string(), "--only-space", "--cold"});
  if (!journals_.output.empty()) {
    words.insert(words.end(), {"--output", journals_.output});
  }
  const nlohmann::json answer = ask(esctune_, std::move(words));
  TuningRecord record{.layer = printable_file_name(request.matrix),
                      .bcol = request.bcol,
                      .device = device_,
                      .device_name = device_name_,
                      .cache = "cold",
                      .candidates = {}};
  try {
    const nlohmann::json& answers = answer.at("items").at(0).at("candidates");
    std::ranges::transform(candidates, std::back_inserter(record.candidates),
                           [&](const Schedule& candidate) { return candidate_in(answers, candidate); });
  } catch (const nlohmann::json::exception&) {
    throw foreign_answer(esctune_);
  }
  report(record, console);
  return record;
}

}  // namespace esc
