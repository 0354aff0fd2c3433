// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "generator/commands/model_request.h"
#include "generator/commands/nest_line.h"
#include "generator/commands/option_words.h"
#include "generator/emit/matching_sizes.h"
#include "generator/schedule/target.h"
#include "generator/support/json_result.h"
#include "generator/support/progress.h"
#include "tuner/commands/begun_journal.h"
#include "tuner/commands/cluster_line.h"
#include "tuner/commands/commands.h"
#include "tuner/commands/known_records.h"
#include "tuner/commands/layer_groups.h"
#include "tuner/commands/nest_reader.h"
#include "tuner/commands/run_narrator.h"
#include "tuner/commands/tuning_line.h"
#include "tuner/records/record_text.h"
#include "tuner/run/layer_list.h"
#include "tuner/run/stop_signals.h"
#include "tuner/scale/shard.h"
#include "tuner/space/listing.h"

namespace esc {
namespace {

struct RunLine {
  std::vector<std::string> matrices;
  std::string list_file;
  std::string spec;
  NestLine nest;
  std::vector<std::int64_t> bcols;
  std::string journal = "esctune.jsonl";
  std::string shard;
  std::string retry;
  std::string budget;
  std::string gpu = "h200";
  bool list = false;
  bool strict = false;
  bool json = false;
  ClusterLine cluster;
  TuningLine tuning;
};

std::optional<double> budget_of(const RunLine& line) {
  return line.budget.empty() ? std::nullopt : std::optional(seconds_in(line.budget));
}

std::vector<std::string> names_of(const RunLine& line) {
  std::vector<std::string> names = line.matrices;
  if (!line.list_file.empty()) {
    const std::vector<std::string> listed = tuning::read_matrix_list(line.list_file);
    names.insert(names.end(), listed.begin(), listed.end());
  }
  if (names.empty()) {
    throw UserError("esctune run", "has no matrix to tune for", "name matrices or folders, or give --matrices LIST");
  }
  return names;
}

/// What the spec says, or the command line of all layers alike.
std::vector<LayerGroup> groups_of(const RunLine& line) {
  if (!line.spec.empty()) {
    std::vector<LayerGroup> groups = groups_of_spec(line.spec);
    for (LayerGroup& group : groups) {
      group.element = element_of(line.tuning) ? element_of(line.tuning) : group.element;
    }
    return groups;
  }
  if (line.bcols.empty()) {
    throw UserError("esctune run", "needs --bcol", "give the numbers of columns of B to tune for");
  }
  const std::vector<std::string> names = names_of(line);
  LayerGroup group{.nest = nest_source(line.nest),
                   .element = element_of(line.tuning),
                   .files = tuning::matrix_files(names),
                   .of_models = tuning::layers_of_models(names),
                   .bcols = {}};
  for (const std::string& file : group.files) {
    group.bcols[file] = {line.bcols.begin(), line.bcols.end()};
  }
  return {group};
}

/// What is to be tuned, and what was found to say of its files.
struct Work {
  std::vector<tuning::ItemRequest> items;  ///< of the run's shard, layer by layer
  tuning::LayerList layers;
};

Work work_of(const RunLine& line) {
  const tuning::Shard shard =
      line.shard.empty() ? tuning::Shard() : tuning::parse_shard(line.shard, tuning::environs_of_process());
  NestReader nests;
  Work work;
  for (const LayerGroup& group : divided_by_element(groups_of(line))) {
    tuning::LayerList found = tuning::read_layers(group.files, group.element.value_or(ScalarType::f32));
    tuning::keep_one_of_each_kind(found, group.of_models, model_min_sparsity);
    work.layers.problems.insert(work.layers.problems.end(), found.problems.begin(), found.problems.end());
    work.layers.notes.insert(work.layers.notes.end(), found.notes.begin(), found.notes.end());
    for (const tuning::LayerFacts& layer : found.layers) {
      const tuning::TunedNest& nest = nests.read(group.nest, layer.file, group.element);
      for (const std::int64_t bcol : group.bcols.at(layer.file)) {
        if (!tuning::is_in(shard, layer.pattern, bcol)) {
          continue;
        }
        try {
          require_matching_sizes(*nest.nest, layer.rows, layer.columns, bcol);
          work.items.push_back({layer, bcol, nest});
        } catch (const UserError& mismatch) {
          work.layers.problems.push_back(fmt::format("{}: {}", layer.file, mismatch.what()));
        }
      }
    }
  }
  return work;
}

/// Records of one device with different drivers or toolkits may not say the same.
void check_environment(const std::vector<tuning::Record>& records, const DeviceKey& device,
                       const tuning::Environment& now, bool strict, const Console& console) {
  for (const tuning::Record& record : records) {
    const tuning::Environment& before = tuning::environment_of(record);
    if (tuning::item_of(record).device != device || before == now) {
      continue;
    }
    const std::string difference = fmt::format(
        "has records of {}, driver {}, CUDA {}, ESC {}; this is {}, driver {}, CUDA {}, ESC {}", before.device_name,
        before.driver, before.toolkit, before.tool, now.device_name, now.driver, now.toolkit, now.tool);
    if (strict) {
      throw UserError("the journal", difference, "give another journal, or leave --strict out");
    }
    console.say("the journal " + difference);
    return;
  }
}

std::string to_json(const tuning::RunSummary& summary, const std::string& journal, const std::string& status) {
  nlohmann::json outcomes = nlohmann::json::object();
  for (const auto& [outcome, count] : summary.outcomes) {
    outcomes[print(outcome)] = count;
  }
  nlohmann::json result{{"journal", journal},
                        {"decided", summary.decided},
                        {"known", summary.known},
                        {"failed", summary.failed},
                        {"left", summary.left}};
  set_renamed(result, "candidates_by_outcome", "outcomes", outcomes);
  return json_result("tuning run", status, result);
}

/// Of a run that no signal has stopped.
ExitStatus status_of(const tuning::RunSummary& summary, const tuning::LayerList& layers) {
  const bool wrong = summary.outcomes.contains(tuning::Outcome::wrong_result);
  return wrong || summary.failed > 0 ? ExitStatus::check_failed
         : !layers.problems.empty()  ? ExitStatus::bad_input
                                     : ExitStatus::done;
}

void print_summary(const tuning::RunSummary& summary, ExitStatus status, const RunLine& line) {
  if (line.json) {
    fmt::print("{}", to_json(summary, line.journal,
                             summary.left > 0             ? "stopped"
                             : status == ExitStatus::done ? "done"
                                                          : "failed"));
    return;
  }
  fmt::print("{} items decided, {} known before, {} failed, {} left\n", summary.decided, summary.known, summary.failed,
             summary.left);
  for (const auto& [outcome, count] : summary.outcomes) {
    fmt::print("{:>8} {}\n", count, print(outcome));
  }
  print_plain("records in {}\n", line.journal);
}

void say_problems(const tuning::LayerList& layers, const Console& console) {
  for (const std::string& problem : layers.problems) {
    console.error(problem);
  }
  for (const std::string& note : layers.notes) {
    console.say(note);
  }
}

tuning::Retry retry_of(const RunLine& line) {
  return line.retry == "failed"    ? tuning::Retry::failed
         : line.retry == "missing" ? tuning::Retry::missing
                                   : tuning::Retry::nothing;
}

ExitStatus measure(const RunLine& line, const Console& console) {
  const std::optional<double> budget = budget_of(line);
  const Work work = work_of(line);
  say_problems(work.layers, console);
  const tuning::RunRequest request = request_for(line.tuning, work.items, retry_of(line), console);
  const Devices devices(line.tuning);
  const tuning::StopSignals signals;
  BegunJournal begun(line.journal);
  tuning::Journal& journal = begun.get();
  say_left_out(journal, line.journal, console);
  const double begin = steady_seconds();
  const auto out_of_time = [&] { return budget && steady_seconds() - begin > *budget; };
  RunNarrator narrator(console);
  tuning::RunObserver observer = narrator.observer();
  observer.started = [&](const DeviceKey& device, const tuning::Environment& environment) {
    check_environment(journal.records(), device, environment, line.strict, console);
  };
  const tuning::RunSummary summary = tuning::run_tuning(request, devices.labs(), journal, observer,
                                                        [&] { return signals.received() != 0 || out_of_time(); });
  narrator.finish();
  const ExitStatus status = status_of(summary, work.layers);
  print_summary(summary, status, line);
  if (line.tuning.exhaustive && !line.json) {
    fmt::print("{}\n", loss_of_cuts(line.tuning, line.journal));
  }
  if (summary.left > 0) {
    console.error(fmt::format(
        "stopped {}; the same command goes on from there",
        signals.received() != 0 ? fmt::format("by signal {}", signals.received()) : "at the end of --budget"));
  }
  if (signals.received() != 0) {
    // As that of a program that the signal has ended: a script shall not take it for a whole run, nor for a failure.
    return static_cast<ExitStatus>(128 + signals.received());
  }
  return status;
}

/// How many of the candidates an earlier run has measured, so that they are not measured again.
std::size_t measured_among(const std::vector<tuning::Candidate>& candidates, const tuning::ItemResults& known,
                           tuning::Retry retry) {
  return static_cast<std::size_t>(std::ranges::count_if(candidates, [&](const tuning::Candidate& candidate) {
    return is_measured(known.search, print(candidate.schedule), retry == tuning::Retry::failed);
  }));
}

/// Whether there is something where the journal is to be, though it be something that cannot be read.
bool is_begun(const std::string& journal) {
  std::error_code ignored;
  return std::filesystem::status(journal, ignored).type() != std::filesystem::file_type::not_found;
}

/// What would be measured after the records of the journal, as far as it is known without a GPU.
ExitStatus list(const RunLine& line, const Console& console) {
  const Work work = work_of(line);
  say_problems(work.layers, console);
  const DeviceKey device = device_of_gpu(line.gpu).key;
  const tuning::RunRequest request = request_for(line.tuning, work.items, retry_of(line), console);
  const std::map<tuning::ItemKey, tuning::ItemResults> known = tuning::group_by_item(
      is_begun(line.journal) ? read_known_records({line.journal}, console) : std::vector<tuning::Record>());
  const CandidateChoice choose(line.tuning);
  std::vector<tuning::PlannedItem> plan;
  for (const tuning::ItemRequest& asked : request.items) {
    const tuning::WorkItem item = item_for(request, asked, device);
    tuning::PlannedItem planned{.item = item, .candidates = choose(item)};
    if (const auto found = known.find(tuning::key_of(item)); found != known.end()) {
      planned.done = measured_among(planned.candidates.kept, found->second, request.retry);
      planned.decided = is_settled(request, item, found->second);
    }
    plan.push_back(std::move(planned));
  }
  const tuning::TimeEstimate estimate{.builders = tuning::preparing_threads()};
  fmt::print("{}", line.json ? tuning::listing_json(plan, estimate) : tuning::listing_text(plan, estimate));
  return work.layers.problems.empty() ? ExitStatus::done : ExitStatus::bad_input;
}

/// Prints the script, unless each of its tasks would refuse what it is told.
ExitStatus emit(const RunLine& line, const CommonOptions& common) {
  static_cast<void>(budget_of(line));
  static_cast<void>(request_for(line.tuning, {}, retry_of(line), common.console()));
  fmt::print("{}", cluster_script(line.cluster, common.arguments, line.journal));
  return ExitStatus::done;
}

ExitStatus run(const RunLine& line, const CommonOptions& common) {
  if (!line.cluster.emit.empty()) {
    return emit(line, common);
  }
  const Console console = common.console();
  return line.list ? list(line, console) : measure(line, console);
}

}  // namespace

void add_run_command(CLI::App& program, const CommonOptions& common, Action& action) {
  CLI::App* command =
      add_command(program, "run", "Measure candidates on this machine's GPUs and append what came of them",
                  "esctune run layers/ --bcol 32,64,128 -o tuned.jsonl\n"
                  "esctune run model.safetensors --bcol 1,16 --gpus 0,1 --budget 2h -o tuned.jsonl\n"
                  "esctune run layers/ --bcol 32 --list");
  const auto line = std::make_shared<RunLine>();
  auto* matrices =
      command->add_option("MATRIX", line->matrices,
                          "Pruned matrices, models, of whose layers one of each shape and kind of pattern is tuned, "
                          "tensors of models as in model.safetensors:NAME, or folders of matrices");
  auto* list_file =
      command->add_option("--matrices", line->list_file, "File that names matrices, one a line")->type_name("FILE");
  auto* spec = command
                   ->add_option("--spec", line->spec,
                                "JSON file with layers, their bCols and their loop nests, as for escgen generate")
                   ->type_name("FILE")
                   ->excludes(matrices)
                   ->excludes(list_file);
  add_nest_options(*command, line->nest, spec);
  command->add_option("--bcol", line->bcols, "Columns of B, 32,64,128")
      ->type_name("N,...")
      ->excludes(spec)
      ->delimiter(',')
      ->check(CLI::Range(1LL, most_columns));
  command->add_option("-o,--output", line->journal, "Journal to append to; a run goes on where it ends")
      ->type_name("FILE")
      ->capture_default_str();
  auto* shard = command
                    ->add_option("--shard", line->shard,
                                 "Do a part of the job: i/n, or auto in a Slurm array or an indexed Kubernetes job")
                    ->type_name("PART");
  command
      ->add_option("--retry", line->retry,
                   "Go on with decided items: what has failed of them, or candidates that are missing")
      ->check(one_of({"failed", "missing"}));
  command->add_option("--budget", line->budget, "Stop after this time: 90s, 20m, 2h")->type_name("TIME");
  command->add_flag("--strict", line->strict, "Refuse a journal that was begun with another driver or toolkit");
  auto* list =
      command->add_flag("--list", line->list, "Say what would be measured and how long it would take; needs no GPU");
  command->add_option("--gpu", line->gpu, "With --list: the GPU to suppose")->type_name("GPU")->capture_default_str();
  command
      ->add_option("--emit", line->cluster.emit,
                   "Print a job of many tasks in place of measuring: a script for Slurm, or a file for Kubernetes")
      ->check(one_of({"slurm", "k8s"}))
      ->excludes(list)
      ->excludes(shard);
  add_cluster_options(*command, line->cluster);
  command->add_flag("--json", line->json, "Print the summary as JSON");
  add_tuning_options(*command, line->tuning);
  put_under(*command, "Input", {"--matrices", "--spec"});
  put_under(*command, "Product", {"--bcol", "--layout", "--epilogue", "--kernel", "--size"});
  put_under(*command, "Output", {"--output", "--list", "--gpu", "--json"});
  put_under(*command, "Parts of a job", {"--shard", "--budget", "--retry", "--strict", "--emit"});
  command->callback([line, &common, &action] { action = [=, &common] { return run(*line, common); }; });
}

}  // namespace esc
