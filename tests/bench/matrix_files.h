// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace esc::bench {

/// The matrices that a command line names, and after them those of its list file, one per line (empty: no list).
/// Throws UserError where there is none, and for what is not a file.
std::vector<std::string> matrix_files(std::vector<std::string> named, const std::string& list);

}  // namespace esc::bench
