// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace esc {

/// The words that a user may have meant: those fewest edits away (a letter more, less, another, or two exchanged), at
/// most a third of the word's letters and one where that is none; capitals and dashes in front do not count. In the
/// order of `known`; empty where none is so near.
std::vector<std::string> closest_words(std::string_view word, const std::vector<std::string>& known);

/// "did you mean h100 or h200? ", to be before a remedy; empty where nothing is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace esc
