// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace esc {

/// An option or a positional argument of a command, in words.
struct OptionWords {
  std::vector<std::string> names;  ///< "-o", "--output"; of a positional argument its name alone
  bool is_positional = false;
  bool is_required = false;
  std::string value;                ///< what its value is called, "TEXT"; empty: a flag, which has none
  std::vector<std::string> values;  ///< all that it may be, where these are few words; else empty
  std::string description;
  std::string heading;  ///< under which the help has it
  std::string preset;   ///< what holds where it is not given; empty where the description says it, or nothing does
};

/// What the command's own help shows, in its order: options of the program that hold for all of its commands are the
/// program's.
std::vector<OptionWords> options_of(const CLI::App& command);

/// Its commands, without those that no help shows.
std::vector<const CLI::App*> commands_of(const CLI::App& program);

/// Accepts these words alone; where it refuses one, it says which may have been meant.
CLI::Validator one_of(const std::vector<std::string>& words);

}  // namespace esc
