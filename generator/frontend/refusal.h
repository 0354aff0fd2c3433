// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <clang/Basic/SourceLocation.h>

#include <stdexcept>
#include <string>

namespace clang {
class Stmt;
}

namespace esc::frontend {

/// What helps where a size would have to be a number.
inline constexpr const char* size_remedy = "--size NAME=VALUE makes a number of a size";

/// A place in the source, as a diagnostic shows it.
struct Place {
  clang::SourceLocation caret;
  clang::SourceRange underlined = {};
};

/// Why a nest is not taken, and where in the source: thrown while the finished AST is read, with none of Clang's own
/// frames in between, and rendered as a Clang diagnostic by parse_loop_nest.
class Refusal : public std::runtime_error {
 public:
  Refusal(const Place& place, const std::string& sentence) : std::runtime_error(sentence), place_(place) {}

  const Place& place() const { return place_; }

 private:
  Place place_;
};

/// The whole statement or expression, which is underlined.
Place place_of(const clang::Stmt& statement);

[[noreturn]] void refuse(const clang::Stmt& where, const std::string& sentence);
[[noreturn]] void refuse(clang::SourceLocation where, const std::string& sentence);

}  // namespace esc::frontend
