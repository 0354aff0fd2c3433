#include "tuner/commands/cluster_line.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "tuner/scale/slurm_script.h"

namespace esc {
namespace {

/// Options with a value that are the job's own, not its tasks'.
constexpr std::array<std::string_view, 8> of_job{"--emit",   "--tasks",   "--cores", "--minutes",
                                                 "--sbatch", "--program", "--shard", "--output"};

bool is_of_job(std::string_view word) {
  return std::ranges::find(of_job, word.substr(0, word.find('='))) != of_job.end();
}

/// What every task is to be told: the words without those of the job and without "run".
std::vector<std::string> arguments_of_task(const std::vector<std::string>& words) {
  std::vector<std::string> arguments;
  bool named = false;
  for (std::size_t place = 0; place < words.size(); ++place) {
    const std::string& word = words[place];
    if (is_of_job(word) || word == "-o") {
      place += word.find('=') == std::string::npos ? 1 : 0;
    } else if (word.starts_with("-o") && !word.starts_with("--")) {
      continue;
    } else if (word == "run" && !named) {
      named = true;
    } else {
      arguments.push_back(word);
    }
  }
  return arguments;
}

}  // namespace

void add_cluster_options(CLI::App& command, ClusterLine& line) {
  command.add_option("--tasks", line.tasks, "With --emit: tasks of the array, each with one GPU")
      ->capture_default_str();
  command.add_option("--cores", line.cores, "With --emit: cores of a task")->capture_default_str();
  command.add_option("--minutes", line.minutes, "With --emit: most minutes of a task")->capture_default_str();
  command.add_option("--program", line.program, "With --emit: esctune as it is called on the nodes")
      ->capture_default_str();
  command.add_option("--sbatch", line.options, "With --emit: a further option of sbatch, --sbatch=--partition=gpu")
      ->allow_extra_args(false);
}

std::string cluster_script(const ClusterLine& line, const std::vector<std::string>& arguments,
                           const std::string& journal) {
  return tuning::slurm_script({.program = line.program,
                               .arguments = arguments_of_task(arguments),
                               .output = journal,
                               .tasks = line.tasks,
                               .gpus = 1,
                               .cores = line.cores,
                               .minutes = line.minutes,
                               .options = line.options});
}

}  // namespace esc
