// SPDX-License-Identifier: Apache-2.0
#include "tuner/scale/cluster_job.h"

#include <algorithm>
#include <string_view>

#include "generator/support/error.h"
#include "generator/support/replace_all.h"

namespace esc::tuning {
namespace {

/// What a shell takes as it is.
bool is_plain(char character) {
  constexpr std::string_view plain = "_-./:,+@%";
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || plain.find(character) != plain.npos;
}

}  // namespace

void check_line(const std::string& what, const std::string& text) {
  if (text.find_first_of(std::string("\n\r\0", 3)) != text.npos) {
    throw UserError(what, "has a line break in it", "choose a name without");
  }
}

void check_job(const ClusterJob& job, const std::string& option) {
  if (job.tasks == 0 || job.cores == 0 || job.minutes == 0) {
    throw UserError(option, "is asked for a job of no tasks, cores or minutes", "give at least 1 of each");
  }
  if (job.output.empty() || job.output.ends_with('/')) {
    throw UserError("--output " + job.output, "is not the name of a file", "name the file for the records");
  }
  check_line("--output", job.output);
  check_line("the name of the program", job.program);
  for (const std::string& argument : job.arguments) {
    check_line("an argument of esctune run", argument);
  }
}

std::string stem_of(const std::string& output) {
  constexpr std::string_view ending = ".jsonl";
  return output.ends_with(ending) && output.size() > ending.size() && output[output.size() - ending.size() - 1] != '/'
             ? output.substr(0, output.size() - ending.size())
             : output;
}

std::string shell_word(const std::string& text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) {
    return text;
  }
  return "'" + replace_all(text, "'", "'\\''") + "'";
}

std::string shell_words(const std::vector<std::string>& texts) {
  std::string line;
  for (const std::string& text : texts) {
    line += ' ' + shell_word(text);
  }
  return line;
}

}  // namespace esc::tuning
