// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace esc::test {

/// What keeps an HTML page of ours from being read on a telephone, in the dark, without a network or from its top: one
/// sentence for each problem, none where all is well.
std::vector<std::string> page_problems(const std::string& page);

}  // namespace esc::test
