#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

#include "generator/commands/console.h"
#include "generator/support/error.h"

namespace esc {

/// Options that every command has.
struct CommonOptions {
  bool quiet = false;
  bool verbose = false;

  Console console() const {
    return Console(quiet ? Verbosity::quiet : verbose ? Verbosity::verbose : Verbosity::normal);
  }
};

/// What the parsed command line asks for; returns the exit status. Empty when no command was given.
using Action = std::function<ExitStatus()>;

// Each adds one subcommand to the program and sets `action` when it is the one that was given.
void add_generate_command(CLI::App& program, const CommonOptions& common, Action& action);
void add_lower_command(CLI::App& program, const CommonOptions& common, Action& action);
void add_inspect_command(CLI::App& program, const CommonOptions& common, Action& action);
void add_verify_command(CLI::App& program, const CommonOptions& common, Action& action);
void add_sample_command(CLI::App& program, const CommonOptions& common, Action& action);

/// Empty when the text is a whole number of 64 bits from 0 on, else what is wrong: without it, -1 would be read as
/// 2^64 - 1.
std::string whole_number_problem(const std::string& text);

/// A subcommand with an example under its help text.
CLI::App* add_command(CLI::App& program, const std::string& name, const std::string& description,
                      const std::string& example);

}  // namespace esc
