// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tuner/scale/cluster_job.h"

namespace esc::tuning {

/// Such a job for Slurm.
struct SlurmJob : ClusterJob {
  std::vector<std::string> options = {};  ///< further ones of sbatch for both jobs, such as "--partition=gpu"
};

/// A bash script that submits the array job and, after it, one that unites the records; to be run where the paths in
/// `arguments` and `output` hold. The same job gives the same text. Throws UserError for no tasks, cores or minutes,
/// and for a text that cannot be in such a script: one with a line break, and an output with a backslash, which
/// Slurm reads in the names of its logs.
std::string slurm_script(const SlurmJob& job);

}  // namespace esc::tuning
