#pragma once

#include <clang/Basic/SourceLocation.h>

#include <stdexcept>
#include <string>

namespace clang {
class Stmt;
}

namespace esc::frontend {

/// Why a nest is not taken, and where in the source: thrown while the finished AST is read, with none of Clang's own
/// frames in between, and rendered as a Clang diagnostic by parse_loop_nest.
class Refusal : public std::runtime_error {
 public:
  Refusal(clang::SourceLocation place, clang::SourceRange underlined, const std::string& sentence)
      : std::runtime_error(sentence), place_(place), underlined_(underlined) {}

  /// Where the caret goes.
  clang::SourceLocation place() const { return place_; }
  clang::SourceRange underlined() const { return underlined_; }

 private:
  clang::SourceLocation place_;
  clang::SourceRange underlined_;
};

/// Refuses the statement or expression, which is underlined.
[[noreturn]] void refuse(const clang::Stmt& where, const std::string& sentence);
[[noreturn]] void refuse(clang::SourceLocation where, const std::string& sentence);

/// The product that every refusal asks for.
inline constexpr const char* expected_product = "C[i][j] += A[i][k] * B[k][j]";

}  // namespace esc::frontend
