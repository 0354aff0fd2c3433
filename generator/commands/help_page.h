// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace esc {

/// Prints --help of a program and of its commands: options under their headings with defaults, examples, and lists of
/// names, within the columns of a page.
class HelpPage : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace esc
