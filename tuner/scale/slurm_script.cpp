// SPDX-License-Identifier: Apache-2.0
#include "tuner/scale/slurm_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "generator/emit/text_template.h"
#include "generator/support/error.h"

namespace esc {

extern const std::string_view slurm_job_template;

namespace tuning {
namespace {

/// What a shell takes as it is.
bool is_plain(char character) {
  constexpr std::string_view plain = "_-./:,+@%";
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || plain.find(character) != plain.npos;
}

void check_text(const std::string& what, const std::string& text) {
  if (text.find_first_of(std::string("\n\r\0", 3)) != text.npos) {
    throw UserError(what, "has a line break in it", "choose a name without");
  }
}

void check_job(const SlurmJob& job) {
  if (job.tasks == 0 || job.cores == 0 || job.minutes == 0) {
    throw UserError("--emit slurm", "is asked for a job of no tasks, cores or minutes", "give at least 1 of each");
  }
  if (job.output.empty() || job.output.ends_with('/')) {
    throw UserError("--output " + job.output, "is not the name of a file", "name the file for the records");
  }
  check_text("--output", job.output);
  if (job.output.find('\\') != job.output.npos) {
    throw UserError("--output " + job.output, "has a backslash, which Slurm reads in its own way",
                    "choose a name without");
  }
  check_text("the name of the program", job.program);
  for (const std::string& argument : job.arguments) {
    check_text("an argument of esctune run", argument);
  }
  for (const std::string& option : job.options) {
    check_text("an option of sbatch", option);
  }
}

std::string words(const std::vector<std::string>& texts) {
  std::string line;
  for (const std::string& text : texts) {
    line += ' ' + shell_word(text);
  }
  return line;
}

/// "night" of "night.jsonl".
std::string stem_of(const std::string& output) {
  constexpr std::string_view ending = ".jsonl";
  return output.ends_with(ending) && output.size() > ending.size() && output[output.size() - ending.size() - 1] != '/'
             ? output.substr(0, output.size() - ending.size())
             : output;
}

/// A name of a log in which only what stands behind it is replaced by Slurm.
std::string log_name(const std::string& stem, const std::string& ending) {
  std::string name;
  for (const char character : stem) {
    name += character == '%' ? "%%" : std::string(1, character);
  }
  return shell_word(name + ending);
}

}  // namespace

std::string shell_word(const std::string& text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) {
    return text;
  }
  std::string quoted = "'";
  for (const char character : text) {
    quoted += character == '\'' ? "'\\''" : std::string(1, character);
  }
  return quoted + "'";
}

std::string slurm_script(const SlurmJob& job) {
  check_job(job);
  const std::string stem = stem_of(job.output);
  const std::string options = words(job.options);
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
                                   {"ARGUMENTS", words(job.arguments)},
                                   {"MERGE", shell_word(job.program) + " merge"},
                                   {"STEM", shell_word(stem)},
                                   {"RESULT", shell_word(job.output)}});
}

}  // namespace tuning
}  // namespace esc
