// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace esc::tests {

/// One fault in a text, and what tells it apart from others wherever its line is. It holds what is other than in
/// the text, not a text of its own: there are tens of thousands of them.
struct TextMutant {
  std::string kind;       ///< "operator", "constant", "dropped statement", ...
  std::string line;       ///< the lines of the fault as they were, blanks run together
  std::string faulty;     ///< the same with the fault
  int place = 1;          ///< which one of the lines that read like its first one, counted from 1
  std::string within;     ///< the class or struct that the line is in; empty outside of one
  std::size_t begin = 0;  ///< of what it replaces, in the text
  std::size_t end = 0;    ///< one after that
  std::string replacement;

  /// The text, which must be the one that it was drawn from, with the fault.
  std::string in(const std::string& text) const { return text.substr(0, begin) + replacement + text.substr(end); }
};

/// All single faults of these kinds in a text of C++: operators exchanged, integer constants one more, one less, zero,
/// doubled; statements left out; guards that always or never hold; an else left out; two neighbouring arguments of a
/// call exchanged; an identifier in place of another of the same type that is in scope. Not all of them compile.
/// Directives of the preprocessor and comments stay.
std::vector<TextMutant> text_mutants(const std::string& text);

}  // namespace esc::tests
