// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/nest_line.h"
#include "generator/support/temporary_folder.h"
#include "tuner/commands/begun_journal.h"
#include "tuner/commands/commands.h"
#include "tuner/commands/layer_groups.h"
#include "tuner/commands/nest_reader.h"
#include "tuner/commands/tuning_line.h"
#include "tuner/records/gone_records.h"
#include "tuner/records/record_text.h"
#include "tuner/report/layer_table.h"
#include "tuner/report/summary_json.h"
#include "tuner/run/layer_list.h"
#include "tuner/run/stop_signals.h"

namespace esc {
namespace {

struct LayerLine {
  std::string matrix;
  std::int64_t bcol = 0;
  std::string journal;
  NestLine nest;
  TuningLine tuning;
  bool json = false;
};

/// What the journal has of the item.
tuning::ItemResults results_of(const std::string& journal, const tuning::WorkItem& item) {
  const auto items = tuning::group_by_item(tuning::without_gone(tuning::read_records({journal})));
  const auto found = items.find(tuning::key_of(item));
  if (found == items.end()) {
    throw UserError(journal, "has no record of this layer", "let the command come to its end",
                    ExitStatus::check_failed);
  }
  return found->second;
}

void print_results(const tuning::ItemResults& results, ExitStatus status, const LayerLine& line,
                   const Console& console) {
  if (line.json) {
    fmt::print("{}", tuning::layer_json(results, status == ExitStatus::done ? "done" : "failed"));
    return;
  }
  print_plain("{}", tuning::layer_answer(results));
  if (console.verbosity() == Verbosity::verbose) {
    print_plain("\n{}", tuning::layer_tables(results));
  }
}

ExitStatus run(const LayerLine& line, const Console& console) {
  const NestSource source = nest_source(line.nest);
  const std::optional<ScalarType> element = element_for(line.matrix, source, element_of(line.tuning));
  const tuning::LayerList layers = tuning::read_layers({line.matrix}, element.value_or(ScalarType::f32));
  if (layers.layers.empty()) {
    throw UserError("", layers.problems.empty() ? layers.notes.front() : layers.problems.front());
  }
  const TemporaryFolder workshop;
  const std::string journal_file = line.journal.empty() ? (workshop.path() / "layer.jsonl").string() : line.journal;
  const tuning::StopSignals signals;
  NestReader nests;
  const tuning::TunedNest& nest = nests.read(source, line.matrix, element);
  const tuning::RunRequest request =
      request_for(line.tuning, {{layers.layers.front(), line.bcol, nest}},
                  line.tuning.only_space ? tuning::Retry::missing : tuning::Retry::failed, console);
  const Devices devices(line.tuning);
  DeviceKey device;
  bool wrong = false;
  {
    BegunJournal journal(journal_file);
    say_left_out(journal.get(), journal_file, console);
    const tuning::RunSummary summary = tuning::run_tuning(
        request, devices.labs(), journal.get(),
        {.started = [&](const DeviceKey& key, const tuning::Environment&) { device = key; },
         .expects = [&](std::size_t candidates) { console.say(fmt::format("{} candidates", candidates)); },
         .measured = [](std::size_t, const std::string&) {},
         .decided = [](const tuning::DecisionRecord&) {},
         .failed = [&](const std::string& problem) { console.error(problem); }},
        [&] { return signals.received() != 0; });
    if (summary.failed > 0) {
      return ExitStatus::check_failed;
    }
    wrong = summary.outcomes.contains(tuning::Outcome::wrong_result);
  }
  if (signals.received() != 0) {
    console.error(line.journal.empty() ? "stopped; nothing is kept: give -o FILE to go on later"
                                       : "stopped; the same command goes on from there");
    return static_cast<ExitStatus>(128 + signals.received());
  }
  const tuning::ItemResults results =
      results_of(journal_file, tuning::item_for(request, request.items.front(), device));
  const bool has_winner =
      line.tuning.only_space ? results.best() != nullptr : results.decision && !results.decision->winner.empty();
  const ExitStatus status = has_winner && !wrong ? ExitStatus::done : ExitStatus::check_failed;
  print_results(results, status, line, console);
  if (line.tuning.exhaustive && !line.json) {
    fmt::print("\n{}\n", loss_of_cuts(line.tuning, journal_file));
  }
  return status;
}

}  // namespace

void add_layer_command(CLI::App& program, const CommonOptions& common, Action& action) {
  CLI::App* command =
      add_command(program, "layer", "Tune one layer; print the winner and what it beats",
                  "esctune layer ffn1.smtx --bcol 64\n"
                  "esctune layer model.safetensors:model.layers.0.mlp.up_proj.weight --bcol 16 --dtype f16");
  const auto line = std::make_shared<LayerLine>();
  command->add_option("MATRIX", line->matrix, "Pruned matrix, or a tensor of a model as in model.safetensors:NAME")
      ->required();
  command->add_option("--bcol", line->bcol, "N, the columns of B (tokens)")
      ->type_name("N")
      ->required()
      ->check(CLI::Range(1LL, most_columns));
  command->add_option("-o,--output", line->journal, "Journal to append to (default: none is kept)")->type_name("FILE");
  command->add_flag("--json", line->json, "Print the measurements as JSON");
  add_nest_options(*command, line->nest);
  add_tuning_options(*command, line->tuning);
  command
      ->add_flag("--only-space", line->tuning.only_space,
                 "Measure the schedules of --space and nothing else: no libraries, no schedule that held before, no "
                 "final with kernels of nvcc and no decision")
      ->needs("--space");
  put_under(*command, "Search", {"--only-space"});
  put_under(*command, "Output", {"--output", "--json"});
  put_under(*command, "Product", {"--bcol", "--layout", "--epilogue", "--kernel", "--size"});
  command->callback([line, &common, &action] { action = [=, &common] { return run(*line, common.console()); }; });
}

}  // namespace esc
