// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

namespace esc::test {

/// How an output of --json is not as docs/reference/formats.md says: one sentence for each place, none where all is
/// well.
std::vector<std::string> json_problems(const std::string& output);

/// The commands that a program's --help lists.
std::set<std::string> commands_in_help(const std::string& help);

}  // namespace esc::test
