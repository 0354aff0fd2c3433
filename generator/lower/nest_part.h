// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <compare>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "generator/support/error.h"

namespace esc {

/// A part of a nest of loops and statements: the nest itself, a loop, a statement, or an element or name in one.
struct NestPart {
  enum class Element { none, target, factor, guard, operand };
  std::vector<std::size_t> path = {};  ///< where the node is in its block, from the outermost; empty: the nest
  Element element = Element::none;     ///< of the statement there
  /// Of the factor, of the guard, or of the operand (an element or a name in the statement's value), in the order in
  /// which the expression holds them.
  std::size_t number = 0;
  auto operator<=>(const NestPart&) const = default;
};

/// What keeps a nest from being lowered, and in which part of it.
class NestError : public UserError {
 public:
  NestError(NestPart part, const std::string& rule) : UserError("", rule), part_(std::move(part)) {}

  const NestPart& part() const noexcept { return part_; }

 private:
  NestPart part_;
};

/// Says in these words what keeps the part from being one of a product, or of what follows it.
template <typename... Arguments>
[[noreturn]] void refuse(const NestPart& part, fmt::format_string<Arguments...> sentence, Arguments&&... arguments) {
  throw NestError(part, fmt::format(sentence, std::forward<Arguments>(arguments)...));
}

/// The product that every refusal of a nest asks for.
inline constexpr const char* expected_product = "C[i][j] += A[i][k] * B[k][j]";

}  // namespace esc
