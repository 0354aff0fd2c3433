// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace esc {

/// The program's page for man(1), of the words that --help shows.
std::string man_page(const CLI::App& program, const std::string& version);

}  // namespace esc
