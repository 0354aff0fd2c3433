// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/commands.h"
#include "generator/commands/input.h"
#include "generator/commands/loop_nest_input.h"
#include "generator/commands/nest_line.h"
#include "generator/ir/print.h"
#include "generator/pipeline.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/schedule/schedule_keys.h"
#include "generator/support/file.h"
#include "generator/support/number_in.h"
#include "generator/support/page_text.h"

namespace esc {
namespace {

struct LowerRequest {
  std::string schedule;
  std::string schedule_file;
  NestLine nest;
  std::vector<std::string> patterns;
  bool dump_steps = false;
};

/// "1101" or "0b1101", one digit per row of the panel, row 0 rightmost.
Pattern parse_pattern(const std::string& text, int height) {
  const std::string digits = text.starts_with("0b") ? text.substr(2) : text;
  const auto rows = number_in<std::uint64_t>(digits, 2);
  if (!rows || *rows == 0 || static_cast<int>(digits.size()) != height) {
    throw UserError("--pattern " + text, fmt::format("is not a pattern of {} rows", height),
                    "write one binary digit per row of the panel, at least one of them 1");
  }
  return {*rows, height};
}

std::optional<std::vector<Pattern>> parse_patterns(const std::vector<std::string>& texts, int height) {
  if (texts.empty()) {
    return std::nullopt;
  }
  std::vector<Pattern> patterns;
  for (const std::string& text : texts) {
    patterns.push_back(parse_pattern(text, height));
  }
  std::sort(patterns.begin(), patterns.end());
  patterns.erase(std::unique(patterns.begin(), patterns.end()), patterns.end());
  return patterns;
}

std::string schedule_text(const LowerRequest& request) {
  if (!request.schedule_file.empty()) {
    return read_file(request.schedule_file);
  }
  if (request.schedule.empty()) {
    throw UserError("--schedule", "is not given", "give --schedule or --schedule-file");
  }
  return request.schedule;
}

ExitStatus run(const LowerRequest& request, const Console& console) {
  const std::string text = schedule_text(request);
  for (const std::string& note : old_words_notes(text)) {
    console.say(note);
  }
  const ScheduleChoice choice = parse_choice(text, "user");
  const LoopNest nest = read_loop_nest(nest_source(request.nest));
  const std::vector<Directive> directives = directives_of(choice, nest.finishes_sums());
  const auto steps =
      lower_by_steps(nest, directives, parse_patterns(request.patterns, row_tile_rows(directives).value_or(1)));
  print_plain("schedule   {}\ndirectives {}\n", text_of(choice), print(directives));
  if (!request.dump_steps) {
    fmt::print("\n{}", print(steps.back().nest));
    return ExitStatus::done;
  }
  fmt::print("\n{}", print_iteration_space(steps.front().nest));
  const LoweredStep* before = nullptr;
  for (const LoweredStep& step : steps) {
    const bool unchanged = before != nullptr && before->nest == step.nest;
    fmt::print("\n--- {}{}\n{}", step.name, unchanged ? " (unchanged)" : "", unchanged ? "" : print(step.nest));
    before = &step;
  }
  return ExitStatus::done;
}

/// A line for each key, with the keys that said it before.
std::string key_lines(const ScheduleFamily& family) {
  constexpr std::size_t name_columns = 26;
  std::string text;
  for (const ScheduleKey& key : family.keys) {
    const std::string before = key.old == key.name ? "" : fmt::format(" (before: {})", key.old);
    std::string left = fmt::format("  {}={}", key.name, key.form);
    if (left.size() >= name_columns) {
      text += "\n" + left;
      left.clear();
    }
    for (const std::string& line : wrapped(std::string(key.meaning) + before, page_columns - name_columns)) {
      text += fmt::format("\n{:<{}}{}", left, name_columns, line);
      left.clear();
    }
  }
  return text;
}

std::vector<HelpList> family_lists() {
  std::vector<HelpList> lists;
  for (const ScheduleFamily& family : schedule_families()) {
    lists.push_back({std::string(family.name), std::string(family.purpose) + key_lines(family)});
  }
  return lists;
}

}  // namespace

void add_lower_command(CLI::App& program, const CommonOptions& common, Action& action) {
  CLI::App* command =
      add_command(program, "lower", "Show the loop nest, after each step of the transformation or at its end",
                  "escgen lower --schedule 4-2-2-64 --dump-steps --pattern 1101\n"
                  "escgen lower --schedule 'stream: tile=32x256x16, warps=4, stages=2, copy=tma, pdl=on'",
                  family_lists());
  const auto request = std::make_shared<LowerRequest>();
  CLI::Option* const schedule =
      command
          ->add_option(
              "--schedule", request->schedule,
              "'FAMILY: key=value, ...' with the keys below, of which those that are left out have their defaults; "
              "UFi-UFk-WarpTile-ThreadBlockSize; or directives as in 'unroll(i, 2); enumerate(); ...'")
          ->type_name("SCHEDULE");
  CLI::Option* const file = command
                                ->add_option("--schedule-file", request->schedule_file,
                                             "The same from a file: a directive a line, # begins a comment")
                                ->type_name("FILE");
  schedule->excludes(file);
  command->add_flag("--dump-steps", request->dump_steps, "Print the nest after every step");
  add_nest_options(*command, request->nest);
  command->add_option("--pattern", request->patterns, "Enumerate only this pattern, row 0 rightmost (repeatable)")
      ->type_name("BITS");
  command->callback([request, &common, &action] { action = [=, &common] { return run(*request, common.console()); }; });
}

}  // namespace esc
