// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace esc::tuning {

/// A job that tunes many layers in several tasks of a cluster, each with a GPU.
struct ClusterJob {
  std::string program = "esctune";     ///< as it is called on the nodes
  std::vector<std::string> arguments;  ///< of `esctune run`: all but --shard and --output
  std::string output;  ///< file for the records of all tasks; theirs have names that begin with its stem
  unsigned int tasks = 4;
  unsigned int gpus = 1;       ///< of a task
  unsigned int cores = 8;      ///< of a task
  unsigned int minutes = 120;  ///< most of a task
};

/// Throws UserError for no tasks, cores or minutes, for an output that is no file's name, and for a text with a line
/// break. `option` is what asks for the job, "--emit slurm".
void check_job(const ClusterJob& job, const std::string& option);
/// The same for one more text, which is called `what`.
void check_line(const std::string& what, const std::string& text);

/// "night" of "night.jsonl".
std::string stem_of(const std::string& output);

/// The text as one word of a shell, whatever is in it, and several, each after a blank.
std::string shell_word(const std::string& text);
std::string shell_words(const std::vector<std::string>& texts);

}  // namespace esc::tuning
