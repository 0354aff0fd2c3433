// SPDX-License-Identifier: Apache-2.0
#include "tuner/scale/kubernetes_job.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "generator/emit/text_template.h"
#include "generator/support/error.h"
#include "generator/support/replace_all.h"

namespace esc {

extern const std::string_view kubernetes_job_template;

namespace tuning {
namespace {

void check_kubernetes_job(const KubernetesJob& job) {
  check_job(job, "--emit k8s");
  if (job.image.empty() || job.claim.empty()) {
    throw UserError(
        "--emit k8s", "does not know the image or the volume of the tasks",
        "give --image IMAGE, which has esctune, and --claim NAME, a volume claim with matrices and room for records");
  }
  check_line("--image", job.image);
  check_line("--claim", job.claim);
  if (job.output.starts_with('/')) {
    throw UserError("--output " + job.output, "is not a place in the volume",
                    "name the file from the volume's root on, as in night.jsonl");
  }
}

/// A text in YAML, of which JSON is a part.
std::string yaml_text(const std::string& text) { return nlohmann::json(text).dump(); }

/// The same of an argument, of which Kubernetes replaces $(NAME), but not $$(NAME).
std::string yaml_argument(const std::string& text) { return yaml_text(replace_all(text, "$(", "$$(")); }

}  // namespace

std::string kubernetes_job(const KubernetesJob& job) {
  check_kubernetes_job(job);
  const std::string stem = shell_word(stem_of(job.output));
  const std::string output = shell_word(job.output);
  const std::string run = fmt::format("exec {} run --shard auto --output {}.\"$JOB_COMPLETION_INDEX\".jsonl{}",
                                      shell_word(job.program), stem, shell_words(job.arguments));
  constexpr unsigned int tries = 3;
  return fill(kubernetes_job_template, {{"TASKS", std::to_string(job.tasks)},
                                        {"BACKOFF", std::to_string(std::uint64_t{tries} * job.tasks)},
                                        {"SECONDS", std::to_string(std::uint64_t{60} * job.minutes)},
                                        {"CORES", std::to_string(job.cores)},
                                        {"GPUS", std::to_string(job.gpus)},
                                        {"IMAGE", yaml_text(job.image)},
                                        {"CLAIM", yaml_text(job.claim)},
                                        {"RUN", yaml_argument(run)},
                                        {"MERGE", fmt::format("{} merge {}.*.jsonl $(ls {} 2>/dev/null) --output {}",
                                                              shell_word(job.program), stem, output, output)}});
}

}  // namespace tuning
}  // namespace esc
