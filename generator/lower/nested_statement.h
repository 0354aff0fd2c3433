// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"
#include "generator/lower/nest_part.h"

namespace esc {

/// How rows, reduction and columns are indexed where an array must say what they are.
inline constexpr const char* expected_subscript =
    "expected the iterator of one loop, alone, or several that count through the dimension wherever it is used, as in "
    "4*g + f where f runs to 4";

/// A statement of a nest with the loops around it, outermost first.
struct NestedStatement {
  std::vector<std::size_t> path;
  std::vector<const Loop*> loops;
  const Statement* statement = nullptr;

  NestPart part(NestPart::Element element = NestPart::Element::none, std::size_t number = 0) const {
    return {path, element, number};
  }
  /// The loop at this depth, where there is one, or the statement.
  NestPart loop_part(std::size_t depth) const;
  /// The loop around with this iterator; null where there is none.
  const Loop* find_loop(const std::string& iterator) const;

  /// The action, if it is this one.
  template <typename Action>
  const Action* action() const {
    return std::get_if<Action>(&statement->action);
  }
};

/// The loops whose iterators index an element, in the order of its subscripts.
using Position = std::vector<const Loop*>;

/// That of the element that the statement changes. Throws NestError for a subscript that is no iterator alone.
Position position_of(const Access& element, const NestedStatement& statement);

/// The element at this position of an array.
Access element_at(const Position& position, const std::string& array);

/// The statements of a nest as written, in the order of the text. Throws Defect where it has other nodes than loops and
/// statements that define, store or update.
std::vector<NestedStatement> find_statements(const LoopNest& nest);

/// The element that the statement changes; null where it changes a local.
const Access* changed_element(const NestedStatement& statement);

/// Whether some loop around the update does not index its target, so that its iterations add to the same element.
bool gathers(const NestedStatement& statement);

}  // namespace esc
