// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <utility>

#include "generator/support/plain_text.h"
#include "generator/support/standard_streams.h"

namespace esc {

/// How much a command says on standard error; results on standard output are not concerned.
enum class Verbosity { quiet, normal, verbose };

/// Prints results that have words of users in them, such as names of files, without what would steer a terminal.
template <typename... Arguments>
void print_plain(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::print("{}", plain_lines(fmt::format(format, std::forward<Arguments>(arguments)...)));
}

/// Progress and diagnostics of a command: lines on standard error, without what would steer a terminal. Those that
/// cannot be written are lost.
class Console {
 public:
  Console(std::string program, Verbosity verbosity) : program_(std::move(program)), verbosity_(verbosity) {}

  Verbosity verbosity() const { return verbosity_; }

  /// Why something could not be done, with --quiet too.
  void error(const std::string& line) const { write(Verbosity::quiet, program_ + ": " + line); }
  /// What the command is doing, one line a step; not with --quiet.
  void say(const std::string& line) const { write(Verbosity::normal, line); }
  /// Details, only with --verbose.
  void detail(const std::string& line) const { write(Verbosity::verbose, line); }

  /// Writes text as it is where somebody watches standard error; empty where it is no terminal, and with --quiet.
  std::function<void(const std::string&)> terminal() const {
    if (verbosity_ == Verbosity::quiet || isatty(STDERR_FILENO) != 1) {
      return {};
    }
    return [](const std::string& text) { write_to_standard_error(text); };
  }

 private:
  void write(Verbosity least, const std::string& line) const {
    if (verbosity_ >= least) {
      write_to_standard_error(plain_lines(line) + "\n");
    }
  }

  std::string program_;
  Verbosity verbosity_;
};

}  // namespace esc
