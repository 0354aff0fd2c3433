// SPDX-License-Identifier: Apache-2.0
#include "tuner/scale/slurm_script.h"

#include <fmt/format.h>

#include <string_view>

#include "generator/emit/text_template.h"
#include "generator/support/error.h"
#include "generator/support/replace_all.h"

namespace esc {

extern const std::string_view slurm_job_template;

namespace tuning {
namespace {

void check_slurm_job(const SlurmJob& job) {
  check_job(job, "--emit slurm");
  if (job.output.find('\\') != job.output.npos) {
    throw UserError("--output " + job.output, "has a backslash, which Slurm reads in its own way",
                    "choose a name without");
  }
  for (const std::string& option : job.options) {
    check_line("an option of sbatch", option);
  }
}

/// A name of a log in which only what is after it is replaced by Slurm.
std::string log_name(const std::string& stem, const std::string& ending) {
  return shell_word(replace_all(stem, "%", "%%") + ending);
}

}  // namespace

std::string slurm_script(const SlurmJob& job) {
  check_slurm_job(job);
  const std::string stem = stem_of(job.output);
  const std::string options = shell_words(job.options);
  const std::string gpus = job.gpus == 0 ? "" : fmt::format(" --gres=gpu:{}", job.gpus);
  return fill(slurm_job_template, {{"TASKS", std::to_string(job.tasks)},
                                   {"LAST_TASK", std::to_string(job.tasks - 1)},
                                   {"CORES", std::to_string(job.cores)},
                                   {"MINUTES", std::to_string(job.minutes)},
                                   {"TASK_LOG", log_name(stem, ".%a.log")},
                                   {"MERGE_LOG", log_name(stem, ".merge.log")},
                                   {"TASK_OPTIONS", gpus + options},
                                   {"OPTIONS", options},
                                   {"RUN", shell_word(job.program) + " run"},
                                   {"ARGUMENTS", shell_words(job.arguments)},
                                   {"MERGE", shell_word(job.program) + " merge"},
                                   {"STEM", shell_word(stem)},
                                   {"RESULT", shell_word(job.output)}});
}

}  // namespace tuning
}  // namespace esc
