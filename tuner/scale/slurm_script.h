// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace esc::tuning {

/// A job that tunes many layers on many GPUs of a Slurm cluster.
struct SlurmJob {
  std::string program = "esctune";     ///< as it is called on the nodes
  std::vector<std::string> arguments;  ///< of `esctune run`: all but --shard and --output
  std::string output;                ///< file for the records of all tasks; theirs have names that begin with its stem
  unsigned int tasks = 4;            ///< of the array
  unsigned int gpus = 1;             ///< of a task
  unsigned int cores = 8;            ///< of a task
  unsigned int minutes = 120;        ///< most of a task
  std::vector<std::string> options;  ///< further ones of sbatch for both jobs, such as "--partition=gpu"
};

/// A bash script that submits the array job and, behind it, one that unites the records; to be run where the paths in
/// `arguments` and `output` hold. The same job gives the same text. Throws UserError for no tasks, cores or minutes,
/// and for a text that cannot stand in such a script: one with a line break, and an output with a backslash, which
/// Slurm reads in the names of its logs.
std::string slurm_script(const SlurmJob& job);

/// The text as one word of a shell, whatever is in it.
std::string shell_word(const std::string& text);

}  // namespace esc::tuning
