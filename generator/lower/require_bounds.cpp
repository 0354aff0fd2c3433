// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/require_bounds.h"

#include <algorithm>
#include <limits>
#include <map>

#include "generator/ir/print.h"
#include "generator/lower/index_range.h"
#include "generator/support/limits.h"

namespace esc {
namespace {

const Affine& extent_of(const std::string& iterator, const WrittenProduct& written) {
  return (*std::ranges::find(written.loops, iterator, [](const Loop* loop) { return loop->iterator; }))->upper;
}

/// What is asked of dimension `at` of a matrix or of an array, in its words.
std::string dimension_name(std::size_t at, std::size_t rank) {
  return rank == 2 ? (at == 0 ? "rows" : "columns") : fmt::format("elements in dimension {}", at + 1);
}

void require_declared(const LoopNest& nest, const WrittenElement& element, const WrittenProduct& written) {
  const ArrayDeclaration& array = declaration(nest, element);
  for (std::size_t at = 0; at < array.extents.size(); ++at) {
    const std::optional<std::string> iterator = sole_iterator(element.access.subscripts[at], written.loops);
    if (iterator && array.extents[at] != extent_of(*iterator, written)) {
      refuse(element.part, "{} is declared with {} {}, but loop {} runs to {}: expected the same", array.name,
             print(array.extents[at]), dimension_name(at, array.extents.size()), *iterator,
             print(extent_of(*iterator, written)));
    }
  }
}

[[noreturn]] void refuse_unknown(const NestPart& part, const std::string& what, const Affine& extent) {
  refuse(part, "{} {}, which is no number here: expected one, as by --size {}=NUMBER", what, print(extent),
         extent.terms().front().name);
}

/// All but the first of the columns; where there is but one of a role, the matrix or the call says how many. A group is
/// of two roles, and of the reduction not alone.
void require_known_digits(const WrittenProduct& written, const RolesOfProduct& roles, const NestedStatement& update) {
  for (std::size_t depth = 0; depth < written.loops.size(); ++depth) {
    const Loop& loop = *written.loops[depth];
    const Role role = roles.role_of(loop.iterator);
    const auto& digits = role == Role::row ? roles.rows : role == Role::column ? roles.columns : roles.reductions;
    const bool is_free = role == Role::column ? loop.iterator == digits.front() : digits.size() == 1;
    if (!is_free && !loop.upper.is_constant()) {
      refuse_unknown(update.loop_part(depth), fmt::format("loop {} runs to", loop.iterator), loop.upper);
    }
  }
}

/// Several loops over rows, the reduction or columns count no further together than a kernel does; the first one over
/// columns, whose extent a call may give, is not among them.
void require_countable(const WrittenProduct& written, const RolesOfProduct& roles, const NestedStatement& update) {
  std::map<Role, std::int64_t> counts;
  for (std::size_t depth = 0; depth < written.loops.size(); ++depth) {
    const Loop& loop = *written.loops[depth];
    const Role role = roles.role_of(loop.iterator);
    if (!loop.upper.is_constant() || loop.iterator == roles.columns.front()) {
      continue;
    }
    std::int64_t& count = counts.try_emplace(role, 1).first->second;
    if (loop.upper.constant() > largest_dimension / count) {
      const char* const counted = role == Role::row      ? "rows"
                                  : role == Role::column ? "columns for each item"
                                                         : "columns of the sparse matrix";
      refuse(update.loop_part(depth), "loop {} runs to {}, which makes more than {} {}: expected at most so many",
             loop.iterator, print(loop.upper), largest_dimension, counted);
    }
    count *= std::max<std::int64_t>(loop.upper.constant(), 1);
  }
}

/// The guards that an index has.
struct Guarded {
  bool below = false;  ///< 0 <= index
  bool above = false;  ///< index < extent
};

/// What must be at least 0 for the comparison to hold.
Affine margin(const Expression& condition) {
  const auto& operation = std::get<Operation>(condition.content);
  const Affine difference = *operation.operands.at(1).affine() - *operation.operands.at(0).affine();
  return operation.op == Operator::less ? difference - 1 : difference;
}

/// The guards of every subscript of the dense array. Each comparison is one of them.
std::vector<Guarded> find_guards(const WrittenProduct& written, const RolesOfProduct& roles,
                                 const ArrayDeclaration& dense) {
  std::vector<Guarded> guards(dense.extents.size());
  for (const WrittenBound& bound : written.bounds) {
    const Affine positive = margin(bound.condition);
    bool is_known = false;
    for (std::size_t at = 0; at < guards.size(); ++at) {
      const Affine& index = roles.dense.access.subscripts[at].affine;
      const bool below = positive == index;
      const bool above = positive == dense.extents[at] - index - 1;
      guards[at].below = guards[at].below || below;
      guards[at].above = guards[at].above || above;
      is_known = is_known || below || above;
    }
    if (!is_known) {
      refuse(bound.part,
             "a guard may leave out zeros only, and what lies outside of {0}: expected {1} != 0, or a subscript of {2} "
             "between 0 and the "
             "extent of its dimension",
             dense.name, print(roles.sparse.access), print(roles.dense.access));
    }
  }
  return guards;
}

/// Whether the inner dimension goes on counting the rows of a matrix where the outer one stops, so that both are one.
bool counts_on(const Affine& outer, const Affine& inner, const std::vector<std::string>& rows) {
  const auto first = std::ranges::find_if(rows, [&](const std::string& iterator) { return outer.is_name(iterator); });
  return first != rows.end() && first + 1 != rows.end() && inner.is_name(*(first + 1));
}

void require_inside(const WrittenProduct& written, const RolesOfProduct& roles, const ArrayDeclaration& dense) {
  const std::vector<Guarded> guards = find_guards(written, roles, dense);
  for (std::size_t at = 0; at < guards.size(); ++at) {
    const Affine& index = roles.dense.access.subscripts[at].affine;
    if (sole_iterator(roles.dense.access.subscripts[at], written.loops)) {
      continue;
    }
    const std::string name = print(index);
    if (!dense.extents[at].is_constant()) {
      refuse_unknown(roles.dense.part, fmt::format("subscript {} of {} goes to", name, dense.name), dense.extents[at]);
    }
    for (const Affine::Term& term : index.terms()) {
      if (!extent_of(term.name, written).is_constant()) {
        refuse_unknown(roles.dense.part,
                       fmt::format("subscript {} of {} has loop {}, which runs to", name, dense.name, term.name),
                       extent_of(term.name, written));
      }
    }
    const IndexRange range =
        range_of(index, [&](const std::string& iterator) { return extent_of(iterator, written).constant(); });
    if (range.least < 0 && !guards[at].below) {
      refuse(roles.dense.part, "subscript {0} of {1} can be {2}: expected the update under if ({0} >= 0)", name,
             dense.name, range.least);
    }
    if (const std::int64_t extent = dense.extents[at].constant(); range.most >= extent && !guards[at].above) {
      refuse(roles.dense.part, "subscript {0} of {1} can be {2}: expected the update under if ({0} < {3})", name,
             dense.name, range.most, extent);
    }
  }
}

}  // namespace

void require_outermost(const WrittenElement& element, const WrittenProduct& written, const RolesOfProduct& roles) {
  const std::vector<Subscript>& subscripts = element.access.subscripts;
  const auto runs_to_one = [&](const std::string& iterator) { return extent_of(iterator, written) == Affine(1); };
  std::vector<std::string> rows = element.array() == roles.dense.array() ? roles.reductions : roles.rows;
  std::erase_if(rows, runs_to_one);
  if (!sole_iterator(subscripts.front(), written.loops)) {
    refuse(element.part, "subscript {} of {}: expected the iterator of one loop, alone, as the first",
           print(subscripts.front().affine), element.array());
  }
  const std::string& first = roles.columns.front();
  // Where the subscript is among the dimensions of a layout (Flattened::layout_of).
  std::size_t place = 0;
  const Affine* in_front = nullptr;
  for (std::size_t at = 0; at < subscripts.size(); ++at) {
    const Affine& subscript = subscripts[at].affine;
    const auto is_alone = [&](std::size_t one) {
      return one < subscripts.size() && sole_iterator(subscripts[one], written.loops);
    };
    const bool is_left_out = is_alone(at) && runs_to_one(*sole_iterator(subscripts[at], written.loops)) &&
                             (in_front != nullptr || is_alone(at + 1));
    if (!is_left_out) {
      place += in_front == nullptr || counts_on(*in_front, subscript, rows) ? 0 : 1;
      in_front = &subscript;
    }
    if (subscript.mentions(first) && !subscript.is_name(first)) {
      refuse(element.part,
             "subscript {} of {} is made of {}, the first iterator of columns: expected it alone, with a loop over "
             "images around where "
             "there is none, be it over one",
             print(subscript), element.array(), first);
    }
    if (subscript.is_name(first) && place > 1) {
      refuse(element.part,
             "{} has {} as its subscript {}: expected it as the first or second, because its extent is known in a call "
             "only",
             print(element.access), first, at + 1);
    }
  }
}

void require_bounds(const LoopNest& nest, const WrittenProduct& written, const RolesOfProduct& roles,
                    const NestedStatement& update) {
  require_known_digits(written, roles, update);
  require_countable(written, roles, update);
  for (const WrittenElement* element : {&roles.sparse, &roles.dense, &roles.output}) {
    require_declared(nest, *element, written);
  }
  require_outermost(roles.dense, written, roles);
  require_outermost(roles.output, written, roles);
  require_inside(written, roles, declaration(nest, roles.dense));
}

}  // namespace esc
