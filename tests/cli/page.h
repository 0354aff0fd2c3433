// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace esc::cli {

/// A command of a page of the documentation.
struct PageCommand {
  std::string text;
  bool needs_gpu = false;           ///< it ends in "# on a GPU"
  bool shows_output = false;        ///< it is after a "$", and what it prints below it
  std::vector<std::string> output;  ///< those lines; "..." stands for any number of lines
  std::size_t line = 0;             ///< of the page where the output begins, from 0
};

/// The commands in the indented blocks of a page, those of `build/release/bin` by the program's name. Fenced blocks are
/// other languages'.
std::vector<PageCommand> commands_of(const std::string& page);

/// Whether a command has printed what its page shows.
bool shows(const PageCommand& command, const std::string& printed);

/// The page with what the commands print now in the place of what it shows, where that leaves nothing out.
std::string with_outputs(const std::string& page, const std::vector<PageCommand>& commands,
                         const std::vector<std::string>& printed);

}  // namespace esc::cli
