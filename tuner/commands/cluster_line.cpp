// SPDX-License-Identifier: Apache-2.0
#include "tuner/commands/cluster_line.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "tuner/scale/kubernetes_job.h"
#include "tuner/scale/slurm_script.h"

namespace esc {
namespace {

/// Options with a value that are the job's own, not its tasks'.
constexpr std::array<std::string_view, 9> of_job{"--emit",   "--tasks",   "--cores", "--minutes", "--image",
                                                 "--sbatch", "--program", "--claim", "--output"};

bool is_of_job(std::string_view word) {
  return std::ranges::find(of_job, word.substr(0, word.find('='))) != of_job.end();
}

bool is_letter(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
}

/// The place of the o in "-o", "-onight.jsonl" and, after letters that are flags, "-qo"; absent in all other words.
std::optional<std::size_t> short_output(std::string_view word) {
  if (!word.starts_with('-')) {
    return std::nullopt;
  }
  const auto other =
      std::ranges::find_if(word.substr(1), [](char letter) { return letter == 'o' || !is_letter(letter); });
  return other != word.end() && *other == 'o' ? std::optional(static_cast<std::size_t>(other - word.begin()))
                                              : std::nullopt;
}

/// What every task is to be told: the words without those of the job and without "run". Matrices that are after one
/// of those come first: an option with several values, which might are before them now, would take them for its own.
std::vector<std::string> arguments_of_task(const std::vector<std::string>& words) {
  const auto end_of_options = std::ranges::find(words, "--");
  std::vector<std::string> arguments;
  std::vector<std::string> others;
  bool named = false;
  bool is_behind_left_out = false;
  for (auto word = words.begin(); word < end_of_options; ++word) {
    const std::optional<std::size_t> output = short_output(*word);
    if (is_of_job(*word)) {
      word += word->find('=') == std::string::npos ? 1 : 0;
      is_behind_left_out = true;
    } else if (output) {
      if (*output > 1) {
        others.push_back(word->substr(0, *output));
      }
      word += *output + 1 == word->size() ? 1 : 0;
      is_behind_left_out = true;
    } else if (*word == "run" && !named) {
      named = true;
      is_behind_left_out = true;
    } else {
      is_behind_left_out = is_behind_left_out && !word->starts_with('-');
      (is_behind_left_out ? arguments : others).push_back(*word);
    }
  }
  arguments.insert(arguments.end(), others.begin(), others.end());
  arguments.insert(arguments.end(), end_of_options, words.end());
  return arguments;
}

}  // namespace

void add_cluster_options(CLI::App& command, ClusterLine& line) {
  command.add_option("--tasks", line.tasks, "With --emit: tasks of the array, each with one GPU")
      ->type_name("NUMBER")
      ->capture_default_str();
  command.add_option("--cores", line.cores, "With --emit: cores of a task")->type_name("NUMBER")->capture_default_str();
  command.add_option("--minutes", line.minutes, "With --emit: most minutes of a task")
      ->type_name("NUMBER")
      ->capture_default_str();
  command.add_option("--program", line.program, "With --emit: esctune as it is called on the nodes")
      ->type_name("PATH")
      ->capture_default_str();
  command.add_option("--sbatch", line.options, "With --emit: a further option of sbatch, --sbatch=--partition=gpu")
      ->type_name("OPTION")
      ->allow_extra_args(false);
  command.add_option("--image", line.image, "With --emit k8s: the container image of the tasks, which has esctune")
      ->type_name("IMAGE");
  command
      .add_option("--claim", line.claim,
                  "With --emit k8s: the volume claim with matrices and records, mounted where the tasks run")
      ->type_name("NAME");
}

std::string cluster_script(const ClusterLine& line, const std::vector<std::string>& arguments,
                           const std::string& journal) {
  const tuning::ClusterJob job{.program = line.program,
                               .arguments = arguments_of_task(arguments),
                               .output = journal,
                               .tasks = line.tasks,
                               .gpus = 1,
                               .cores = line.cores,
                               .minutes = line.minutes};
  return line.emit == "k8s" ? tuning::kubernetes_job({job, line.image, line.claim})
                            : tuning::slurm_script({job, line.options});
}

}  // namespace esc
