// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/flatten.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "generator/ir/joined_digits.h"
#include "generator/lower/index_range.h"
#include "generator/support/error.h"

namespace esc {
namespace {

/// The loops of the canonical form that several of the nest's stand for, and how far they go.
struct Index {
  Role role;
  const char* name;
  const char* size;
};

constexpr Index row_index{Role::row, "i", "M"};
constexpr Index reduction_index{Role::reduction, "k", "K"};
constexpr Index column_index{Role::column, "j", "N"};
/// The first of several digits of a column.
constexpr const char* items = "items";

/// Names for digits that the user's iterators are. Texts put an ending after "i" of a sole digit and after "i_" of a
/// user's i alike, so that neither is the other's.
class DigitNames {
 public:
  std::string name_of(const std::string& iterator) {
    const auto [known, is_new] = given_.emplace(iterator, own_name(iterator));
    while (is_new && !taken_.insert(known->second).second) {
      known->second += '_';
    }
    return known->second;
  }

 private:
  std::map<std::string, std::string> given_;
  std::set<std::string> taken_{own_name(row_index.name), own_name(reduction_index.name), own_name(column_index.name)};
};

bool is_one(const Affine& extent) { return extent == Affine(1); }

/// Leaves out dimensions of one element, and digits of rows that are always 0. The outermost dimension, with the
/// leading dimension between its indices, stays one that an iterator counts through.
void leave_out_ones(Layout& layout) {
  const auto is_idle = [](const StoredDimension& one) {
    return is_one(one.extent) && one.index == Affine(0) && !one.padded;
  };
  const auto is_counted = [](const StoredDimension& one) {
    return is_one(one.extent) || (one.index.terms().size() == 1 && one.index.is_name(one.index.terms().front().name));
  };
  while (layout.dimensions.size() > 1 && is_idle(layout.dimensions[0]) && !layout.dimensions[1].padded &&
         is_counted(layout.dimensions[1])) {
    layout.dimensions.erase(layout.dimensions.begin());
  }
  layout.dimensions.erase(std::remove_if(layout.dimensions.begin() + 1, layout.dimensions.end(), is_idle),
                          layout.dimensions.end());
  if (!std::ranges::all_of(layout.row, [](const Digit& digit) { return is_one(digit.extent); })) {
    std::erase_if(layout.row, [](const Digit& digit) { return is_one(digit.extent); });
  }
}

/// Makes one digit of those of a row that only count on, and their dimensions one. A sole digit gets the name of the
/// matrix's rows.
Layout with_few_digits(Layout layout, const Index& index) {
  layout = join_rows(std::move(layout));
  if (layout.row.size() == 1) {
    Digit& only = layout.row.front();
    for (StoredDimension& dimension : layout.dimensions) {
      if (dimension.index.is_name(only.name) && dimension.extent == only.extent) {
        dimension.extent = Affine::of(index.size);
      }
      dimension.index = dimension.index.substitute(only.name, Affine::of(index.name));
    }
    only = {index.name, Affine::of(index.size)};
  }
  return layout;
}

}  // namespace

std::string own_name(const std::string& name) {
  // Before an underscore is one more "own", so that no name is one that C reserves, as __LINE__ is of __LINE_,
  // nor two names one.
  constexpr std::string_view own = "own";
  std::string_view rest = name;
  while (rest.starts_with(own)) {
    rest.remove_prefix(own.size());
  }
  return (rest.starts_with('_') ? std::string(own) : std::string()) + name + "_";
}

Flattened::Flattened(const LoopNest& nest) : nest_(nest) {
  const ProductDigits digits = digits_of(nest);
  DigitNames names;
  for (const auto& [index, own] : {std::pair(row_index, &digits.rows), std::pair(reduction_index, &digits.reductions),
                                   std::pair(column_index, &digits.columns)}) {
    for (const Digit& digit : *own) {
      Digit canonical{index.name, Affine::of(index.size)};
      if (own->size() > 1) {
        const bool counts_items = index.role == Role::column && digit.name == own->front().name;
        canonical = {names.name_of(digit.name), counts_items ? Affine::of(items) : digit.extent};
      }
      flat_[index.role].push_back({digit.name, std::move(canonical)});
    }
  }
}

const Digit& Flattened::digit_of(const std::string& iterator, Role role) const {
  const std::vector<Flat>& own = flat_.at(role);
  const auto found = std::ranges::find(own, iterator, &Flat::iterator);
  ESC_CHECK(found != own.end() || role != Role::column, "the iterator is of this role or of columns: " + iterator);
  return found != own.end() ? found->digit : digit_of(iterator, Role::column);
}

std::vector<Digit> Flattened::digits_of_role(Role role) const {
  std::vector<Digit> digits;
  std::ranges::transform(flat_.at(role), std::back_inserter(digits), &Flat::digit);
  return digits;
}

std::optional<Layout> Flattened::layout_of(const Access& access, Role role) const {
  const ArrayDeclaration* array = nest_.find_array(access.array);
  ESC_CHECK(array != nullptr && array->extents.size() == access.subscripts.size(),
            "the array has its dimensions: " + access.array);
  Layout layout{digits_of_role(role), digits_of_role(Role::column), {}};
  for (std::size_t at = 0; at < access.subscripts.size(); ++at) {
    const Affine& subscript = access.subscripts[at].affine;
    Affine index(subscript.constant());
    for (const Affine::Term& term : subscript.terms()) {
      // Of one value, 0, it moves nothing, as the taps of a 1 x 1 filter, and would keep lanes from moving vectors.
      if (const Digit& digit = digit_of(term.name, role); digit.extent != Affine(1)) {
        index = index + Affine::of(digit.name, term.coefficient);
      }
    }
    if (subscript.terms().size() == 1 && subscript.is_name(subscript.terms().front().name)) {
      layout.dimensions.push_back({digit_of(subscript.terms().front().name, role).extent, index});
      continue;
    }
    const Affine& extent = array->extents[at];
    const IndexRange range =
        range_of(subscript, [&](const std::string& iterator) { return digit_of(iterator, role).extent.constant(); });
    layout.dimensions.push_back({extent, index, range.least < 0 || range.most >= extent.constant()});
  }
  leave_out_ones(layout);
  layout = with_few_digits(std::move(layout), role == Role::row ? row_index : reduction_index);
  return is_row_major(layout) ? std::nullopt : std::optional(layout);
}

Access Flattened::flat(const Access& access) const {
  Access result{access.array, {}};
  for (const Index& index : {row_index, column_index}) {
    if (std::ranges::any_of(access.subscripts, [&](const Subscript& subscript) {
          return subscript.affine.mentions(flat_.at(index.role).front().iterator);
        })) {
      result.subscripts.push_back({"", Affine::of(index.name)});
    }
  }
  return result;
}

}  // namespace esc
