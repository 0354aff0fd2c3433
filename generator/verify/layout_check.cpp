// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/layout_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "generator/ir/evaluate.h"
#include "generator/ir/placed_layout.h"
#include "generator/ir/product_digits.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/canonicalize.h"
#include "generator/support/error.h"

namespace esc {
namespace {

/// How many rows and how many columns of a matrix are looked at, at most.
constexpr std::int64_t looked_at = 97;

/// Numbers below the count, all of them or some from everywhere, the last one included.
std::vector<std::int64_t> spread(std::int64_t count) {
  std::vector<std::int64_t> numbers;
  const std::int64_t amount = std::min(count, looked_at);
  for (std::int64_t at = 0; at < amount; ++at) {
    numbers.push_back(amount == 1 ? count - 1 : at * (count - 1) / (amount - 1));
  }
  return numbers;
}

/// The nest's names with the values that they have at an element of a matrix.
class NestPlace {
 public:
  NestPlace(const LoopNest& nest, std::int64_t rows, std::int64_t reduction, std::int64_t n)
      : nest_(nest), digits_(digits_of(nest)) {
    for (const auto& [digits, count] :
         {std::pair(&digits_.rows, rows), std::pair(&digits_.reductions, reduction), std::pair(&digits_.columns, n)}) {
      std::int64_t first = count;
      for (std::size_t at = 1; at < digits->size(); ++at) {
        first /= (*digits)[at].extent.constant();
      }
      for (const Affine::Term& term : digits->front().extent.terms()) {
        values_[term.name] = first;
      }
    }
  }

  void set_row(std::int64_t number) { set(digits_.rows, number); }
  void set_reduction(std::int64_t number) { set(digits_.reductions, number); }
  void set_column(std::int64_t number) { set(digits_.columns, number); }

  /// Where the element is in its array without gaps; nothing where a guard on indices leaves it out.
  std::optional<std::int64_t> offset(const Access& access, const Guard& guard) const {
    for (const Expression& condition : guard) {
      const auto& operation = std::get<Operation>(condition.content);
      if (operation.op == Operator::less || operation.op == Operator::at_most) {
        const std::int64_t difference =
            (*operation.operands.at(1).affine() - *operation.operands.at(0).affine()).evaluate(values_);
        if (difference < (operation.op == Operator::less ? 1 : 0)) {
          return std::nullopt;
        }
      }
    }
    std::int64_t offset = 0;
    const ArrayDeclaration& array = *nest_.find_array(access.array);
    for (std::size_t at = 0; at < access.subscripts.size(); ++at) {
      offset = offset * array.extents.at(at).evaluate(values_) + access.subscripts[at].affine.evaluate(values_);
    }
    return offset;
  }

  /// As many of the columns as one step of their first iterator has.
  std::int64_t items(std::int64_t n) const {
    for (std::size_t at = 1; at < digits_.columns.size(); ++at) {
      n /= digits_.columns[at].extent.constant();
    }
    return n;
  }

 private:
  void set(const std::vector<Digit>& digits, std::int64_t number) {
    for (std::size_t at = digits.size(); at-- > 1;) {
      values_[digits[at].name] = number % digits[at].extent.constant();
      number /= digits[at].extent.constant();
    }
    values_[digits.front().name] = number;
  }

  const LoopNest& nest_;
  ProductDigits digits_;
  Environment values_;
};

/// The elements that the nest's epilogue reads, and those of the product.
std::vector<Access> elements_of(const LoopNest& nest) {
  const Update& update = update_of(nest);
  std::vector<Access> elements{element_read(update, nest.array(ArrayRole::dense).name), *update.target.access()};
  if (nest.epilogue) {
    const Rewrite collect{.access = [&](const Access& access) {
      elements.push_back(access);
      return access;
    }};
    for (const Define& step : nest.epilogue->steps) {
      rewrite(step.value, collect);
    }
    rewrite(nest.epilogue->value, collect);
  }
  return elements;
}

std::string print_offset(const std::optional<std::int64_t>& offset) {
  return offset ? fmt::format("{}", *offset) : "nowhere";
}

}  // namespace

std::string find_layout_fault(const LoopNest& nest, std::int64_t rows, std::int64_t reduction, std::int64_t n) {
  const LoopNest canonical = canonicalize(nest);
  const Guard& guard = guard_of(nest);
  NestPlace place(nest, rows, reduction, n);
  const Environment sizes{{"M", rows}, {"K", reduction}, {"N", n}};
  for (const Access& element : elements_of(nest)) {
    const auto array = std::ranges::find(nest.arrays, element.array, &ArrayDeclaration::name);
    const ArrayDeclaration& form = canonical.arrays.at(static_cast<std::size_t>(array - nest.arrays.begin()));
    if (!form.layout) {
      continue;
    }
    const bool is_dense = form.role == ArrayRole::dense;
    const PlacedLayout placed(*form.layout, sizes);
    for (const std::int64_t row : spread(is_dense ? reduction : rows)) {
      is_dense ? place.set_reduction(row) : place.set_row(row);
      for (const std::int64_t column : spread(n)) {
        place.set_column(column);
        const auto written = place.offset(element, is_dense ? guard : Guard{});
        const auto laid_out = placed.offset(row, column, placed.least_leading_dimension(place.items(n)));
        if (written != laid_out) {
          return fmt::format("element [{}][{}] of {}: by the nest at {}, by the layout at {}", row, column,
                             element.array, print_offset(written), print_offset(laid_out));
        }
      }
    }
  }
  return {};
}

}  // namespace esc
