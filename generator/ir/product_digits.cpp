// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/product_digits.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include "generator/ir/rewrite.h"
#include "generator/support/error.h"

namespace esc {
namespace {

/// The loops of a nest, each inside the one before, and the statement in the innermost.
const Statement& innermost(const Block& block, std::map<std::string, const Loop*>& loops) {
  ESC_CHECK(block.size() == 1, "the loops of a product are directly inside each other");
  if (const auto* loop = std::get_if<Loop>(&block.front().content)) {
    loops[loop->iterator] = loop;
    return innermost(loop->body, loops);
  }
  const auto* statement = std::get_if<Statement>(&block.front().content);
  ESC_CHECK(statement != nullptr, "a product has loops and a statement");
  return *statement;
}

const Update& update_in(const Statement& statement) {
  const auto* update = std::get_if<Update>(&statement.action);
  ESC_CHECK(update != nullptr && update->target.access() != nullptr, "the statement of a product adds to the output");
  return *update;
}

}  // namespace

const Digit* ProductDigits::find(const std::string& name) const {
  for (const auto* digits : std::array{&rows, &reductions, &columns}) {
    if (const auto found = std::ranges::find(*digits, name, &Digit::name); found != digits->end()) {
      return &*found;
    }
  }
  return nullptr;
}

const Update& update_of(const LoopNest& nest) {
  std::map<std::string, const Loop*> loops;
  return update_in(innermost(nest.body, loops));
}

const Guard& guard_of(const LoopNest& nest) {
  std::map<std::string, const Loop*> loops;
  return innermost(nest.body, loops).guard;
}

Access element_read(const Update& update, const std::string& array) {
  Access found;
  rewrite(update.value, {.access = [&](const Access& access) {
            found = access.array == array ? access : found;
            return access;
          }});
  ESC_CHECK(found.array == array, "the update reads " + array);
  return found;
}

ProductDigits digits_of(const LoopNest& nest) {
  std::map<std::string, const Loop*> loops;
  const Update& update = update_in(innermost(nest.body, loops));
  ProductDigits digits;
  const auto add = [&](const Subscript& subscript, Role role, std::vector<Digit>& to) {
    const auto loop = std::ranges::find_if(loops, [&](const auto& one) { return subscript.affine.is_name(one.first); });
    ESC_CHECK(loop != loops.end(), "each subscript of the sparse array and of the output is one iterator");
    if (loop->second->role == role) {
      to.push_back({loop->first, loop->second->upper});
    }
  };
  const Access sparse = element_read(update, nest.array(ArrayRole::sparse).name);
  for (const Subscript& subscript : sparse.subscripts) {
    add(subscript, Role::row, digits.rows);
    add(subscript, Role::group, digits.rows);
    add(subscript, Role::group, digits.reductions);
  }
  digits.groups = digits.reductions.size();
  for (const Subscript& subscript : sparse.subscripts) {
    add(subscript, Role::reduction, digits.reductions);
  }
  for (const Subscript& subscript : update.target.access()->subscripts) {
    add(subscript, Role::column, digits.columns);
  }
  ESC_CHECK(!digits.rows.empty() && !digits.reductions.empty() && !digits.columns.empty(), "each role has a loop");
  ESC_CHECK(digits.rows.size() + digits.reductions.size() + digits.columns.size() - digits.groups == loops.size(),
            "each loop has a role");
  return digits;
}

std::optional<std::int64_t> count_of(const std::vector<Digit>& digits) {
  std::int64_t count = 1;
  for (const Digit& digit : digits) {
    if (!digit.extent.is_constant() || __builtin_mul_overflow(count, digit.extent.constant(), &count)) {
      return std::nullopt;
    }
  }
  return count;
}

std::vector<std::int64_t> values_of(std::int64_t number, const std::vector<Digit>& digits) {
  std::vector<std::int64_t> values(digits.size());
  for (std::size_t at = digits.size(); at-- > 1;) {
    values[at] = number % digits[at].extent.constant();
    number /= digits[at].extent.constant();
  }
  values.front() = number;
  return values;
}

std::optional<std::vector<Digit>> digits_of_index(const Affine& index, const std::vector<Digit>& iterators) {
  std::vector<Digit> digits;
  std::ranges::copy_if(iterators, std::back_inserter(digits),
                       [&](const Digit& digit) { return index.mentions(digit.name); });
  if (digits.size() < 2 || digits.size() != index.terms().size() || index.constant() != 0 || !count_of(digits)) {
    return std::nullopt;
  }
  // Of two with one coefficient, one runs to 1.
  std::ranges::stable_sort(digits, std::ranges::greater(), [&](const Digit& digit) {
    return std::pair(index.coefficient(digit.name), digit.extent.constant());
  });
  std::int64_t place = 1;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    if (index.coefficient(digit->name) != place) {
      return std::nullopt;
    }
    place *= digit->extent.constant();
  }
  return digits;
}

}  // namespace esc
