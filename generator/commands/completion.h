// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace esc {

/// What bash sources to complete the program's commands, options and the values of those that have few; files else.
std::string bash_completion(const CLI::App& program);

/// The same for zsh: the text of _PROGRAM in a folder of fpath.
std::string zsh_completion(const CLI::App& program);

}  // namespace esc
