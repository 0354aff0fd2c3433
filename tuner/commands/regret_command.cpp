// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "generator/commands/own_measurements.h"
#include "tuner/commands/commands.h"
#include "tuner/regret/model_chooser.h"
#include "tuner/regret/regret_text.h"

namespace esc {
namespace {

using tuning::Dimension;

struct RegretLine {
  std::vector<std::string> journals;
  std::string database;
  std::vector<std::string> by;
  std::vector<std::string> choosers{"auto", "left-out"};
  std::size_t fewest = 4;
  std::optional<double> most_mean;
  std::optional<double> most_worst;
  bool json = false;
  bool items = false;
};

std::optional<double> ratio_of(std::optional<double> percent) {
  return percent ? std::optional(1 + *percent / 100) : std::nullopt;
}

/// The tables that are wanted, by what they are grouped by.
std::vector<std::vector<Dimension>> wanted_tables(const RegretLine& line) {
  if (line.by.empty()) {
    return {{Dimension::type, Dimension::layout},
            {Dimension::type, Dimension::layout, Dimension::columns},
            {Dimension::type, Dimension::layout, Dimension::device},
            {Dimension::type, Dimension::layout, Dimension::size},
            {Dimension::type, Dimension::layout, Dimension::family}};
  }
  std::vector<Dimension> dimensions;
  for (const std::string& word : line.by) {
    dimensions.push_back(tuning::parse_dimension(word));
  }
  return {dimensions};
}

std::unique_ptr<tuning::Chooser> chooser_of(const std::string& name, const std::vector<tuning::MeasuredItem>& items) {
  if (name == "auto") {
    return tuning::auto_chooser();
  }
  if (name == "left-out") {
    return tuning::left_out_chooser();
  }
  return name == "model" ? tuning::model_chooser() : tuning::corrected_chooser(items);
}

std::vector<std::unique_ptr<tuning::Chooser>> wanted_choosers(const RegretLine& line,
                                                              const std::vector<tuning::MeasuredItem>& items,
                                                              const Console& console) {
  std::vector<std::unique_ptr<tuning::Chooser>> choosers;
  for (const std::string& name : line.choosers) {
    choosers.push_back(chooser_of(name, items));
  }
  if (!line.database.empty()) {
    choosers.push_back(tuning::database_chooser(read_own_measurements(line.database, console)));
  }
  return choosers;
}

ExitStatus run(const RegretLine& line, const Console& console) {
  const std::vector<std::vector<Dimension>> wanted = wanted_tables(line);
  console.detail("reading the journals");
  tuning::MeasuredItems items = tuning::measured_items(tuning::read_journals(line.journals));
  std::erase_if(items.items, [&](const tuning::MeasuredItem& item) { return item.schedules.size() < line.fewest; });
  const std::vector<std::unique_ptr<tuning::Chooser>> choosers = wanted_choosers(line, items.items, console);
  std::vector<std::pair<std::string, std::vector<tuning::Judgement>>> by_chooser;
  for (const auto& chooser : choosers) {
    console.detail("choosing with " + chooser->name());
    by_chooser.emplace_back(chooser->name(), tuning::judge(items.items, *chooser));
  }
  std::vector<tuning::RegretTable> tables;
  for (const std::vector<Dimension>& dimensions : wanted) {
    tuning::RegretTable& table = tables.emplace_back(tuning::RegretTable{dimensions, {}});
    for (const auto& [name, judgements] : by_chooser) {
      table.choosers.push_back({name, tuning::group(judgements, dimensions)});
    }
  }
  const tuning::RegretLimits limits{ratio_of(line.most_mean), ratio_of(line.most_worst)};
  const bool is_limited = limits.mean || limits.worst;
  const bool is_met =
      std::ranges::all_of(tables, [&](const tuning::RegretTable& table) { return tuning::is_met(table, limits); });
  const char* const status = !is_limited ? "done" : is_met ? "passed" : "failed";
  fmt::print("{}", line.items  ? tuning::items_csv(by_chooser)
                   : line.json ? tuning::to_json(items, tables, status)
                               : tuning::print(items, tables));
  return is_limited && !is_met ? ExitStatus::check_failed : ExitStatus::done;
}

}  // namespace

void add_regret_command(CLI::App& program, const CommonOptions& common, Action& action) {
  CLI::App* command = add_command(program, "regret", "Print what the choice of schedules loses on what was measured",
                                  "esctune regret tests/bench/journals --by type,layout");
  const auto line = std::make_shared<RegretLine>();
  command
      ->add_option("journals", line->journals,
                   "Journals of esctune and esc-bench, *.jsonl or *.jsonl.xz, or folders of them; items of one journal "
                   "are compared with each other alone")
      ->required();
  command
      ->add_option("--chooser", line->choosers,
                   "Who chooses, some of auto, left-out, model, corrected (default: auto,left-out)")
      ->delimiter(',')
      ->check(CLI::IsMember({"auto", "left-out", "model", "corrected"}));
  command
      ->add_option("--database", line->database,
                   "Judge these databases too, laid over the program's own: a file or a folder of esctune publish")
      ->type_name("PATH");
  command
      ->add_option(
          "--by", line->by,
          "One table by some of type, layout, device, columns, size, family (of the best schedule) in place of "
          "the usual ones")
      ->delimiter(',');
  command
      ->add_option("--schedules", line->fewest,
                   "Least number of schedules of an item: with fewer there is nothing to choose (default: 4)")
      ->type_name("NUMBER")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--most-mean", line->most_mean,
                   "Status 1 where a group's geometric mean is more than so many % above the best, or not known")
      ->type_name("PERCENT")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--most-worst", line->most_worst,
                   "Status 1 where an item of a group is more than so many % above the best, or a group has no data")
      ->type_name("PERCENT")
      ->check(CLI::NonNegativeNumber);
  auto* json = command->add_flag("--json", line->json, "Print JSON, with the worst item of each group");
  command->add_flag("--items", line->items, "Print a line for each item, of comma-separated values")->excludes(json);
  command->callback([line, &common, &action] { action = [=, &common] { return run(*line, common.console()); }; });
}

}  // namespace esc
