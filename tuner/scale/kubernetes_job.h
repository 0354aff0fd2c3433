// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tuner/scale/cluster_job.h"

namespace esc::tuning {

/// Such a job for Kubernetes.
struct KubernetesJob : ClusterJob {
  std::string image = {};  ///< that has `program`
  std::string claim = {};  ///< of the volume with matrices and records, in which paths of the command line hold
};

/// An indexed Job as YAML, whose comment says how its records are united. The same job gives the same text. Throws
/// UserError as check_job does, without an image or a claim, and for a path that leaves the volume.
std::string kubernetes_job(const KubernetesJob& job);

}  // namespace esc::tuning
