// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/split_dimensions.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "generator/ir/product_digits.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/nested_statement.h"

namespace esc {
namespace {

using Names = std::set<std::string>;
/// A dimension of an array, by the array's name.
using Place = std::pair<std::string, std::size_t>;

Names names_in(const Access& access) {
  Names names;
  for (const Subscript& subscript : access.subscripts) {
    for (const Affine::Term& term : subscript.affine.terms()) {
      names.insert(term.name);
    }
  }
  return names;
}

std::vector<Digit> iterators_around(const NestedStatement& statement) {
  std::vector<Digit> iterators;
  std::ranges::transform(statement.loops, std::back_inserter(iterators),
                         [](const Loop* loop) { return Digit{loop->iterator, loop->upper}; });
  return iterators;
}

/// In which of the arrays of the product iterators are: the output, and each of two factors.
class ProductNames {
 public:
  explicit ProductNames(const std::vector<NestedStatement>& statements) {
    const auto update = std::ranges::find_if(statements, gathers);
    if (update == statements.end()) {
      return;
    }
    // Where a local gathers, the output is what is changed next.
    const auto output = std::find_if(update, statements.end(),
                                     [](const NestedStatement& one) { return changed_element(one) != nullptr; });
    if (output != statements.end()) {
      arrays_.push_back(names_in(*changed_element(*output)));
    }
    for (const Expression& factor : factors(update->action<Update>()->value)) {
      if (const Access* access = factor.access()) {
        arrays_.push_back(names_in(*access));
      }
    }
  }

  /// Whether all the digits are of one role, those of groups left out.
  bool are_of_one_role(const std::vector<Digit>& digits) const {
    std::set<std::vector<bool>> roles;
    for (const Digit& digit : digits) {
      std::vector<bool> role;
      std::ranges::transform(arrays_, std::back_inserter(role),
                             [&](const Names& names) { return names.contains(digit.name); });
      if (std::ranges::find(role, false) != role.end()) {
        roles.insert(std::move(role));
      }
    }
    return roles.size() <= 1;
  }

 private:
  std::vector<Names> arrays_;
};

std::vector<Affine> extents_of(const std::vector<Digit>& digits) {
  std::vector<Affine> extents;
  std::ranges::transform(digits, std::back_inserter(extents), &Digit::extent);
  return extents;
}

/// Finds the dimensions that can be split, and into what.
class Splits {
 public:
  Splits(const LoopNest& nest, const std::vector<NestedStatement>& statements) : nest_(nest), product_(statements) {
    for (const NestedStatement& statement : statements) {
      const std::vector<Digit> iterators = iterators_around(statement);
      rewrite(*statement.statement, {.access = [&](const Access& access) {
        look_at(access, iterators);
        return access;
      }});
    }
  }

  /// The extents that there are in the stead of the dimension's; null where it stays.
  const std::vector<Affine>* find(const std::string& array, std::size_t dimension) const {
    const auto found = extents_.find({array, dimension});
    return found == extents_.end() || found->second.empty() ? nullptr : &found->second;
  }

 private:
  void look_at(const Access& access, const std::vector<Digit>& iterators) {
    const ArrayDeclaration* array = nest_.find_array(access.array);
    if (array == nullptr) {
      return;
    }
    // What an epilogue reads in two ways has the dimensions of one of them, and is refused by a later step.
    const bool is_as_declared = access.subscripts.size() == array->extents.size();
    for (std::size_t at = 0; at < access.subscripts.size(); ++at) {
      const std::vector<Affine> extents =
          is_as_declared ? counted_extents(access.subscripts[at].affine, array->extents[at], iterators)
                         : std::vector<Affine>();
      const auto [known, is_new] = extents_.emplace(Place{access.array, at}, extents);
      if (!is_new && known->second != extents) {
        known->second.clear();
      }
    }
  }

  /// Those of the digits with which the index counts through the extent; none where it does not.
  std::vector<Affine> counted_extents(const Affine& index, const Affine& extent,
                                      const std::vector<Digit>& iterators) const {
    const auto digits = digits_of_index(index, iterators);
    return digits && Affine(*count_of(*digits)) == extent && product_.are_of_one_role(*digits) ? extents_of(*digits)
                                                                                               : std::vector<Affine>();
  }

  const LoopNest& nest_;
  ProductNames product_;
  std::map<Place, std::vector<Affine>> extents_;  ///< none: the dimension stays
};

Access split(const Access& access, const Splits& splits, const std::vector<Digit>& iterators) {
  Access result{access.array, {}};
  for (std::size_t at = 0; at < access.subscripts.size(); ++at) {
    if (splits.find(access.array, at) == nullptr) {
      result.subscripts.push_back(access.subscripts[at]);
      continue;
    }
    const auto digits = digits_of_index(access.subscripts[at].affine, iterators);
    for (const Digit& digit : *digits) {
      result.subscripts.push_back({"", Affine::of(digit.name)});
    }
  }
  return result;
}

Block split(const Block& block, const Splits& splits, std::vector<Digit>& iterators) {
  Block result;
  for (const Node& node : block) {
    if (const auto* loop = std::get_if<Loop>(&node.content)) {
      Loop changed = *loop;
      iterators.push_back({loop->iterator, loop->upper});
      changed.body = split(loop->body, splits, iterators);
      iterators.pop_back();
      result.push_back(Node{std::move(changed)});
    } else {
      const auto* statement = std::get_if<Statement>(&node.content);
      ESC_CHECK(statement != nullptr, "a nest as written has loops and statements");
      result.push_back(Node{
          rewrite(*statement, {.access = [&](const Access& access) { return split(access, splits, iterators); }})});
    }
  }
  return result;
}

}  // namespace

LoopNest split_dimensions(const LoopNest& nest) {
  const std::vector<NestedStatement> statements = find_statements(nest);
  const Splits splits(nest, statements);
  LoopNest result = nest;
  std::vector<Digit> iterators;
  result.body = split(nest.body, splits, iterators);
  for (ArrayDeclaration& array : result.arrays) {
    std::vector<Affine> extents;
    for (std::size_t at = 0; at < array.extents.size(); ++at) {
      if (const auto* parts = splits.find(array.name, at)) {
        extents.insert(extents.end(), parts->begin(), parts->end());
      } else {
        extents.push_back(array.extents[at]);
      }
    }
    array.extents = std::move(extents);
  }
  return result;
}

}  // namespace esc
