// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace esc {

/// What `run --emit` lets the user say about the cluster.
struct ClusterLine {
  std::string emit;  ///< "slurm" or "k8s"; empty where nothing is printed
  std::string program = "esctune";
  unsigned int tasks = 4;
  unsigned int cores = 8;
  unsigned int minutes = 120;
  std::vector<std::string> options;  ///< of sbatch
  std::string image;                 ///< of Kubernetes
  std::string claim;
};

void add_cluster_options(CLI::App& command, ClusterLine& line);

/// The script or the file of the job that does what `arguments`, the whole command line after the program's name,
/// would do in one process.
std::string cluster_script(const ClusterLine& line, const std::vector<std::string>& arguments,
                           const std::string& journal);

}  // namespace esc
