// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/written_product.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "generator/ir/print.h"

namespace esc {
namespace {

using Loops = std::vector<const Loop*>;

WrittenElement read_element(const Expression& expression, const Loops& loops, const NestPart& part) {
  const Access* access = expression.access();
  ESC_CHECK(access != nullptr && !access->subscripts.empty(), "an element of an array: " + print(expression));
  std::set<std::string> found;
  for (const Subscript& subscript : access->subscripts) {
    ESC_CHECK(subscript.offset.empty(), "an affine subscript: " + print(*access));
    const std::optional<std::string> iterator = sole_iterator(subscript, loops);
    if (iterator && !found.insert(*iterator).second) {
      refuse(part, "{} subscripts of {} are {}: expected {}different iterators",
             access->subscripts.size() == 2 ? "both" : "two", access->array, *iterator,
             access->subscripts.size() == 2 ? "two " : "");
    }
  }
  return {*access, part};
}

bool compares_indices(const Expression& condition) {
  const auto* operation = std::get_if<Operation>(&condition.content);
  return operation != nullptr && (operation->op == Operator::less || operation->op == Operator::at_most) &&
         std::ranges::all_of(operation->operands,
                             [](const Expression& operand) { return operand.affine() != nullptr; });
}

/// Whether the element may be the sparse one: indexed by iterators alone, those of the output in front.
bool may_be_sparse(const WrittenElement& element, const WrittenProduct& written) {
  bool reduces = false;
  return std::ranges::all_of(element.access.subscripts, [&](const Subscript& subscript) {
    const std::optional<std::string> iterator = sole_iterator(subscript, written.loops);
    const bool is_row = iterator && written.output.is_indexed_by(*iterator);
    reduces = reduces || !is_row;
    return iterator && is_row != reduces;
  });
}

/// Whether the element would be the sparse one but for shifts and the like: its first subscripts are made of iterators
/// of the output, the others of such that the output does not have.
bool is_meant_as_sparse(const WrittenElement& element, const WrittenProduct& written) {
  bool reduces = false;
  return std::ranges::all_of(element.access.subscripts, [&](const Subscript& subscript) {
    const auto& terms = subscript.affine.terms();
    const auto of_output =
        std::ranges::count_if(terms, [&](const Affine::Term& term) { return written.output.is_indexed_by(term.name); });
    const bool is_row = of_output == std::ssize(terms);
    reduces = reduces || !is_row;
    return (is_row || of_output == 0) && is_row != reduces;
  });
}

bool has_iterators_alone(const WrittenElement& element, const Loops& loops) {
  return std::ranges::all_of(element.access.subscripts,
                             [&](const Subscript& subscript) { return sole_iterator(subscript, loops).has_value(); });
}

std::size_t place_of_sparse(const WrittenProduct& written) {
  const auto one_of = [&](const auto& fits) -> std::optional<std::size_t> {
    const bool first = fits(written.factors[0]);
    return first == fits(written.factors[1]) ? std::nullopt : std::optional<std::size_t>(first ? 0 : 1);
  };
  if (const auto only = one_of([&](const WrittenElement& factor) { return may_be_sparse(factor, written); })) {
    return *only;
  }
  if (may_be_sparse(written.factors[0], written)) {
    const bool guards_second = std::ranges::any_of(
        written.zero_guards, [&](const WrittenElement& guard) { return guard.access == written.factors[1].access; });
    const bool guards_first = std::ranges::any_of(
        written.zero_guards, [&](const WrittenElement& guard) { return guard.access == written.factors[0].access; });
    return guards_second && !guards_first ? 1 : 0;
  }
  // Neither can be: what is said should be about the one that was meant.
  if (const auto only = one_of([&](const WrittenElement& factor) { return is_meant_as_sparse(factor, written); })) {
    return *only;
  }
  if (const auto only =
          one_of([&](const WrittenElement& factor) { return has_iterators_alone(factor, written.loops); })) {
    return *only;
  }
  const std::string row = *sole_iterator(written.output.access.subscripts.front(), written.loops);
  return written.factors[0].is_indexed_by(row) ? 0 : 1;
}

/// Every iterator indexes two of the three arrays, or all.
void require_pairs(const WrittenProduct& written) {
  const WrittenElement& output = written.output;
  for (const Loop* loop : written.loops) {
    for (const WrittenElement& factor : written.factors) {
      if (!output.is_indexed_by(loop->iterator) && !factor.is_indexed_by(loop->iterator)) {
        refuse(factor.part, "{} is not indexed by {}, the iterator that {} does not have: expected {}",
               print(factor.access), loop->iterator, print(output.access), expected_product);
      }
    }
  }
  for (const Subscript& subscript : output.access.subscripts) {
    const std::string iterator = *sole_iterator(subscript, written.loops);
    if (std::ranges::none_of(written.factors,
                             [&](const WrittenElement& factor) { return factor.is_indexed_by(iterator); })) {
      refuse(written.factors[1].part, "no factor is indexed by iterator {} of {}: expected {}", iterator,
             print(output.access), expected_product);
    }
  }
  for (const WrittenElement& factor : written.factors) {
    if (std::ranges::none_of(written.loops, [&](const Loop* loop) {
          return factor.is_indexed_by(loop->iterator) && output.is_indexed_by(loop->iterator);
        })) {
      refuse(factor.part, "{} has no iterator of {}: expected {}", print(factor.access), print(output.access),
             expected_product);
    }
  }
}

/// Rows before the reduction.
void require_orientation(const RolesOfProduct& roles, const WrittenProduct& written) {
  if (may_be_sparse(roles.sparse, written)) {
    return;
  }
  std::string expected = roles.sparse.array();
  for (const auto& iterators : {roles.rows, roles.reductions}) {
    for (const std::string& iterator : iterators) {
      expected += "[" + iterator + "]";
    }
  }
  refuse(roles.sparse.part, "{} is the sparse matrix transposed: expected {}, M x K", print(roles.sparse.access),
         expected);
}

/// The loops run over the sparse array as it is stored.
void require_no_shifts(const RolesOfProduct& roles, const WrittenProduct& written) {
  for (const Subscript& subscript : roles.sparse.access.subscripts) {
    if (!sole_iterator(subscript, written.loops)) {
      refuse(roles.sparse.part,
             "subscript {} of the sparse array {}: {}; loops run over it as it is stored, so that a shift, a stride or "
             "a sum belongs into the subscripts of {}",
             print(subscript.affine), roles.sparse.array(), expected_subscript, roles.dense.array());
    }
  }
}

void require_dense_subscripts(const RolesOfProduct& roles, const WrittenProduct& written) {
  for (const Subscript& subscript : roles.dense.access.subscripts) {
    const auto& terms = subscript.affine.terms();
    const bool is_sum = !terms.empty() && std::ranges::all_of(terms, [&](const Affine::Term& term) {
      return term.coefficient > 0 &&
             std::ranges::any_of(written.loops, [&](const Loop* loop) { return loop->iterator == term.name; });
    });
    if (!is_sum) {
      refuse(roles.dense.part, "subscript {} of {}: expected a sum of iterators, each times a positive number",
             print(subscript.affine), roles.dense.array());
    }
  }
}

}  // namespace

const ArrayDeclaration& declaration(const LoopNest& nest, const WrittenElement& element) {
  const ArrayDeclaration* array = nest.find_array(element.array());
  ESC_CHECK(array != nullptr && array->extents.size() == element.access.subscripts.size(),
            "the array is declared with its dimensions: " + element.array());
  return *array;
}

bool WrittenElement::is_indexed_by(const std::string& iterator) const {
  return std::ranges::any_of(access.subscripts,
                             [&](const Subscript& subscript) { return subscript.affine.mentions(iterator); });
}

std::optional<std::string> sole_iterator(const Subscript& subscript, const Loops& loops) {
  const auto found =
      std::ranges::find_if(loops, [&](const Loop* loop) { return subscript.affine.is_name(loop->iterator); });
  return found == loops.end() ? std::nullopt : std::optional((*found)->iterator);
}

std::vector<std::string> require_iterators(const WrittenElement& element, const Loops& loops) {
  std::vector<std::string> iterators;
  for (const Subscript& subscript : element.access.subscripts) {
    const std::optional<std::string> iterator = sole_iterator(subscript, loops);
    if (!iterator) {
      refuse(element.part, "subscript {} of {}: {}", print(subscript.affine), element.array(), expected_subscript);
    }
    iterators.push_back(*iterator);
  }
  return iterators;
}

WrittenProduct read_product(const NestedStatement& update, const Access& output, const NestPart& output_part) {
  std::set<std::string> iterators;
  for (const Loop* loop : update.loops) {
    ESC_CHECK(iterators.insert(loop->iterator).second, "every loop has an iterator of its own: " + loop->iterator);
    ESC_CHECK(loop->lower == 0 && loop->step == 1, "a loop that counts from 0: " + loop->iterator);
  }
  WrittenProduct written{update.loops, read_element(output, update.loops, output_part), {}, {}, {}};
  require_iterators(written.output, update.loops);
  for (const Expression& factor : factors(update.action<Update>()->value)) {
    const NestPart part = update.part(NestPart::Element::factor, written.factors.size());
    written.factors.push_back(read_element(factor, update.loops, part));
  }
  ESC_CHECK(written.factors.size() == 2, "two factors: " + print(update.action<Update>()->value));
  std::size_t number = 0;
  for (const Expression& guard : update.statement->guard) {
    const NestPart part = update.part(NestPart::Element::guard, number++);
    if (compares_indices(guard)) {
      written.bounds.push_back({guard, part});
      continue;
    }
    const Operation* differs = guard.operation(Operator::differs);
    ESC_CHECK(differs != nullptr && guard == is_nonzero(differs->operands.front()),
              "a guard leaves out zeros or compares indices");
    written.zero_guards.push_back(read_element(differs->operands.front(), update.loops, part));
  }
  return written;
}

Role RolesOfProduct::role_of(const std::string& iterator) const {
  const auto is_in = [&](const std::vector<std::string>& iterators) {
    return std::ranges::find(iterators, iterator) != iterators.end();
  };
  if (is_in(rows)) {
    return is_in(reductions) ? Role::group : Role::row;
  }
  return is_in(columns) ? Role::column : Role::reduction;
}

RolesOfProduct find_roles(const WrittenProduct& written) {
  require_pairs(written);
  const std::size_t place = place_of_sparse(written);
  RolesOfProduct roles{written.factors[place], written.factors[1 - place], written.output, {}, {}, {}};
  require_no_shifts(roles, written);
  std::vector<std::string> groups;
  for (const std::string& iterator : require_iterators(roles.sparse, written.loops)) {
    const bool is_row = roles.output.is_indexed_by(iterator);
    (is_row ? roles.rows : roles.reductions).push_back(iterator);
    if (is_row && roles.dense.is_indexed_by(iterator)) {
      groups.push_back(iterator);
    }
  }
  for (const std::string& iterator : require_iterators(roles.output, written.loops)) {
    if (!roles.sparse.is_indexed_by(iterator)) {
      roles.columns.push_back(iterator);
    }
  }
  if (roles.columns.empty()) {
    refuse(roles.dense.part,
           "{} and {} share {} alone, which {} has too, as groups: expected another iterator of both, for columns, be "
           "it over one",
           print(roles.dense.access), print(roles.output.access), fmt::join(groups, ", "), print(roles.sparse.access));
  }
  require_orientation(roles, written);
  if (roles.reductions.empty()) {
    refuse(roles.sparse.part, "{} has no iterator that {} does not have: expected one to add up over, be it over one",
           print(roles.sparse.access), print(roles.output.access));
  }
  roles.reductions.insert(roles.reductions.begin(), groups.begin(), groups.end());
  require_dense_subscripts(roles, written);
  return roles;
}

}  // namespace esc
