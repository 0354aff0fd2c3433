// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "generator/commands/console.h"
#include "generator/support/error.h"

namespace esc {

/// Options that every command has.
struct CommonOptions {
  std::string program;                 ///< its name, before its messages
  std::vector<std::string> arguments;  ///< all that the user gave, as it is on the command line
  bool quiet = false;
  bool verbose = false;

  Console console() const {
    return Console(program, quiet ? Verbosity::quiet : verbose ? Verbosity::verbose : Verbosity::normal);
  }
};

/// What the parsed command line asks for; returns the exit status. Empty when no command was given.
using Action = std::function<ExitStatus()>;

/// Adds one subcommand to the program and sets `action` when it is the one that was given.
using AddCommand = void (*)(CLI::App& program, const CommonOptions& common, Action& action);

/// An option that had another name in the release before: the old one is read, and said to be old.
struct RenamedOption {
  std::string command;
  std::string old_name;  ///< "--ufi"
  std::string name;
};

/// A program of subcommands.
struct ProgramText {
  std::string name;
  std::string description;
  std::string llvm = {};  ///< version of LLVM that it links; empty: it links none
  std::vector<AddCommand> commands;
  /// Called before there is any other thread; empty: nothing is.
  std::function<void()> begin = {};
  std::vector<RenamedOption> renamed = {};
};

/// The whole of a program: runs its command line. Errors become one line on standard error and an exit status.
int run_program(int argc, char** argv, const ProgramText& text);

/// Empty when the text is a whole number of 64 bits from 0 on, else what is wrong: without it, -1 would be read as
/// 2^64 - 1.
std::string whole_number_problem(const std::string& text);

/// A sentence below the options of a command's help, as "GPUs: a100, h200".
struct HelpList {
  std::string what;
  std::string names;
};

/// A subcommand whose help has examples, one a line, and lists of names.
CLI::App* add_command(CLI::App& program, const std::string& name, const std::string& description,
                      const std::string& examples, const std::vector<HelpList>& lists = {});

/// Puts options of a command under a heading of its help.
void put_under(CLI::App& command, const std::string& heading, const std::vector<std::string>& options);

}  // namespace esc
