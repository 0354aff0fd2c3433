#include "generator/lower/flatten.h"

#include <algorithm>

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

constexpr Index rows{Role::row, "i", "M"};
constexpr Index reductions{Role::reduction, "k", "K"};
constexpr Index columns{Role::column, "j", "N"};
/// The first of several digits of a column.
constexpr const char* items = "items";

}  // namespace

std::string own_name(const std::string& name) { return name + "_"; }

Flattened::Flattened(const LoopNest& nest) : nest_(nest) {
  const ProductDigits digits = digits_of(nest);
  for (const auto& [index, own] : {std::pair(rows, &digits.rows), std::pair(reductions, &digits.reductions),
                                   std::pair(columns, &digits.columns)}) {
    for (const Digit& digit : *own) {
      Digit canonical{index.name, Affine::of(index.size)};
      if (own->size() > 1) {
        const bool counts_items = index.role == Role::column && digit.name == own->front().name;
        canonical = {own_name(digit.name), counts_items ? Affine::of(items) : digit.extent};
      }
      flat_.emplace(digit.name, Flat{index.role, std::move(canonical)});
      order_[index.role].push_back(digit.name);
    }
  }
}

std::vector<Digit> Flattened::digits_of_role(Role role) const {
  std::vector<Digit> digits;
  for (const std::string& iterator : order_.at(role)) {
    digits.push_back(flat_.at(iterator).digit);
  }
  return digits;
}

std::optional<Layout> Flattened::layout_of(const Access& access, Role role) const {
  const ArrayDeclaration* array = nest_.find_array(access.array);
  ESC_CHECK(array != nullptr && array->extents.size() == access.subscripts.size(), "the array has its dimensions: " + access.array);
  Layout layout{digits_of_role(role), digits_of_role(Role::column), {}};
  for (std::size_t at = 0; at < access.subscripts.size(); ++at) {
    const Affine& subscript = access.subscripts[at].affine;
    Affine index(subscript.constant());
    for (const Affine::Term& term : subscript.terms()) {
      // Of one value, 0, it moves nothing, as the taps of a 1 x 1 filter, and would keep lanes from moving vectors.
      if (const Digit& digit = flat_.at(term.name).digit; digit.extent != Affine(1)) {
        index = index + Affine::of(digit.name, term.coefficient);
      }
    }
    if (subscript.terms().size() == 1 && subscript.is_name(subscript.terms().front().name)) {
      layout.dimensions.push_back({flat_.at(subscript.terms().front().name).digit.extent, index});
      continue;
    }
    const Affine& extent = array->extents[at];
    const IndexRange range = range_of(subscript, [&](const std::string& iterator) { return flat_.at(iterator).digit.extent.constant(); });
    layout.dimensions.push_back({extent, index, range.least < 0 || range.most >= extent.constant()});
  }
  return is_row_major(layout) ? std::nullopt : std::optional(layout);
}

Access Flattened::flat(const Access& access) const {
  Access result{access.array, {}};
  for (const Index& index : {rows, columns}) {
    if (std::ranges::any_of(access.subscripts, [&](const Subscript& subscript) {
          return subscript.affine.mentions(order_.at(index.role).front());
        })) {
      result.subscripts.push_back({"", Affine::of(index.name)});
    }
  }
  return result;
}

}  // namespace esc
