// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace esc {

/// A constant text with its holes filled. A hole is written @@NAME@@ (capitals, digits, underscores) and may occur more
/// than once; values are put in as they are and not searched for holes. A hole without a value, a value without a hole
/// and a broken hole are Defects.
std::string fill(std::string_view text_template, const std::map<std::string, std::string>& values);

}  // namespace esc
