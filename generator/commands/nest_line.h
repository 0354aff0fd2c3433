// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "generator/commands/nest_source.h"

namespace esc {

/// What a command line says of the input loop nest, as it was typed.
struct NestLine {
  std::string file;
  std::string epilogue;
  std::vector<std::string> sizes;
  std::optional<std::string> layout;
};

/// Adds --kernel, --epilogue, --size and --layout to a command. Those that a spec says layer by layer exclude `spec`,
/// where there is one.
void add_nest_options(CLI::App& command, NestLine& line, CLI::Option* spec = nullptr);

/// What is in place of --dtype where a command reads matrices.
inline constexpr const char* element_help =
    "Element type, f32, f64, f16, bf16 or tf32 (default: that of a file of 16 bits; f32 for f32, f64 and text; the one "
    "of --kernel)";

/// Adds --dtype, with the types that there are: of the loop nest where nothing else is said.
CLI::Option* add_element_option(CLI::App& command, std::optional<std::string>& dtype, const std::string& help = {});

/// What the line says. Throws UserError for sizes and layouts that are none.
NestSource nest_source(const NestLine& line);

}  // namespace esc
