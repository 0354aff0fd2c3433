// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/nest_product.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "generator/ir/evaluate.h"
#include "generator/support/error.h"

namespace esc {
namespace {

/// A value for each wanted column of C; a single one where it is the same for all.
using Columns = std::vector<double>;

double at(const Columns& values, std::size_t column) { return values[values.size() == 1 ? 0 : column]; }

/// Whether the expression is zero, or the condition false, wherever the sparse element is zero.
bool vanishes_with(const Expression& expression, const Access& sparse) {
  if (const Access* access = expression.access()) {
    return *access == sparse;
  }
  const auto* operation = std::get_if<Operation>(&expression.content);
  if (operation == nullptr) {
    return false;
  }
  const bool of_any = operation->op == Operator::multiply || operation->op == Operator::all;
  const bool of_first = operation->op == Operator::differs && operation->operands.at(1) == Expression(0);
  return (of_any && std::ranges::any_of(operation->operands,
                                        [&](const Expression& operand) { return vanishes_with(operand, sparse); })) ||
         (of_first && vanishes_with(operation->operands.front(), sparse));
}

bool adds_nothing(const Block& block, const Access& sparse);

bool adds_nothing(const Node& node, const Access& sparse) {
  if (const auto* loop = std::get_if<Loop>(&node.content)) {
    return adds_nothing(loop->body, sparse);
  }
  const auto* statement = std::get_if<Statement>(&node.content);
  const auto* update = statement == nullptr ? nullptr : std::get_if<Update>(&statement->action);
  return update != nullptr && (vanishes_with(update->value, sparse) ||
                               std::ranges::any_of(statement->guard, [&](const Expression& condition) {
                                 return vanishes_with(condition, sparse);
                               }));
}

/// Whether running the block changes nothing where the sparse element is zero.
bool adds_nothing(const Block& block, const Access& sparse) {
  return std::ranges::all_of(block, [&](const Node& node) { return adds_nothing(node, sparse); });
}

/// The iterators of the reduction's loops, outermost first.
std::vector<std::string> reduction_loops(const Block& block) {
  std::vector<std::string> iterators;
  const Loop* loop = std::get_if<Loop>(&block.front().content);
  for (; loop != nullptr; loop = std::get_if<Loop>(&loop->body.front().content)) {
    if (loop->role == Role::reduction) {
      iterators.push_back(loop->iterator);
    }
  }
  return iterators;
}

/// The nest, run for one row.
class RowOfNest {
 public:
  RowOfNest(const NestProduct& product, std::int64_t row, const DenseOperand& b)
      : nest_(product.nest()), digits_(product.digits()), b_(b) {
    const SparseMatrix& a = product.matrix();
    result_ = {Columns(b.wanted(), 0.0), Columns(b.wanted(), 0.0)};
    const auto first = static_cast<std::size_t>(a.offsets[static_cast<std::size_t>(row)]);
    const auto count = static_cast<std::size_t>(a.offsets[static_cast<std::size_t>(row) + 1]) - first;
    columns_of_row_ = std::span(a.column_of).subspan(first, count);
    values_of_row_ = std::span(a.values).subspan(first, count);
    name_sizes(digits_.rows, a.rows);
    name_sizes(digits_.reductions, a.columns);
    name_sizes(digits_.columns, b.n);
    set_digits(digits_.rows, row);
    set_digits(digits_.columns, 0);
    if (digits_.columns.size() > 1) {
      count_columns();
    }
  }

  RowOfC run() && {
    execute(nest_.body);
    return std::move(result_);
  }

 private:
  /// The name in the extent of the first digit, where there is one: the others are numbers.
  void name_sizes(const std::vector<Digit>& digits, std::int64_t count) {
    for (std::size_t at = 1; at < digits.size(); ++at) {
      count /= digits[at].extent.constant();
    }
    for (const Affine::Term& term : digits.front().extent.terms()) {
      set(term.name, count);
    }
  }

  void set_digits(const std::vector<Digit>& digits, std::int64_t number) {
    if (digits.size() == 1) {
      set(digits.front().name, number);
      return;
    }
    const std::vector<std::int64_t> values = values_of(number, digits);
    for (std::size_t at = 0; at < digits.size(); ++at) {
      set(digits[at].name, values[at]);
    }
  }

  /// The digits of each wanted column.
  void count_columns() {
    column_digits_.assign(digits_.columns.size(), std::vector<std::int64_t>(result_.values.size()));
    for (std::size_t column = 0; column < result_.values.size(); ++column) {
      const std::vector<std::int64_t> values = values_of(b_.column(column), digits_.columns);
      for (std::size_t at = 0; at < values.size(); ++at) {
        column_digits_[at][column] = values[at];
      }
    }
  }

  // There are few names, so that looking at all of them is quick.

  void set(const std::string& name, std::int64_t value) {
    const auto known = std::ranges::find(names_, name, &std::pair<std::string, std::int64_t>::first);
    if (known == names_.end()) {
      names_.emplace_back(name, value);
    } else {
      known->second = value;
    }
  }

  std::int64_t evaluate(const Affine& affine) const {
    std::int64_t sum = affine.constant();
    for (const Affine::Term& term : affine.terms()) {
      const auto known = std::ranges::find(names_, term.name, &std::pair<std::string, std::int64_t>::first);
      ESC_CHECK(known != names_.end(), "the name " + term.name + " has a value");
      sum += term.coefficient * known->second;
    }
    return sum;
  }

  void execute(const Block& block) {
    for (const Node& node : block) {
      if (const auto* loop = std::get_if<Loop>(&node.content)) {
        execute(*loop);
      } else {
        const auto* statement = std::get_if<Statement>(&node.content);
        ESC_CHECK(statement != nullptr, "an input nest has loops and statements");
        execute(*statement);
      }
    }
  }

  /// Rows and columns have their values already. Where zeros of the sparse array add nothing, the outermost loop of the
  /// reduction stands for all of them.
  void execute(const Loop& loop) {
    if (loop.role != Role::reduction || at_nonzero_) {
      execute(loop.body);
    } else if (adds_nothing(loop.body, sparse_element())) {
      for (const std::int32_t k : nonzeros_in_order()) {
        at_nonzero_ = k;
        set_digits(digits_.reductions, k);
        execute(loop.body);
      }
      at_nonzero_.reset();
    } else {
      for (std::int64_t value = evaluate(loop.lower); value < evaluate(loop.upper); ++value) {
        set(loop.iterator, value);
        execute(loop.body);
      }
    }
  }

  Access sparse_element() const { return element_read(update_of(nest_), nest_.array(ArrayRole::sparse).name); }

  /// The row's columns of the sparse array that are not zero, in the order in which the nest's loops come to them. They
  /// come to none of another group than the row's.
  std::vector<std::int32_t> nonzeros_in_order() const {
    std::vector<std::int32_t> columns;
    std::ranges::copy_if(columns_of_row_, std::back_inserter(columns),
                         [&](std::int32_t column) { return is_in_group(column); });
    std::vector<std::size_t> order;
    for (const std::string& iterator : reduction_loops(nest_.body)) {
      const auto digit = std::ranges::find(digits_.reductions, iterator, &Digit::name);
      order.push_back(static_cast<std::size_t>(digit - digits_.reductions.begin()));
    }
    if (!std::ranges::is_sorted(order)) {
      std::ranges::sort(columns, {}, [&](std::int32_t column) {
        const std::vector<std::int64_t> values = values_of(column, digits_.reductions);
        std::vector<std::int64_t> key;
        std::ranges::transform(order, std::back_inserter(key), [&](std::size_t at) { return values[at]; });
        return key;
      });
    }
    return columns;
  }

  /// Whether the digits of groups are the row's.
  bool is_in_group(std::int32_t column) const {
    if (digits_.groups == 0) {
      return true;
    }
    const std::vector<std::int64_t> values = values_of(column, digits_.reductions);
    for (std::size_t at = 0; at < digits_.groups; ++at) {
      if (values[at] != evaluate(Affine::of(digits_.reductions[at].name))) {
        return false;
      }
    }
    return true;
  }

  void execute(const Statement& statement) {
    const auto* update = std::get_if<Update>(&statement.action);
    ESC_CHECK(update != nullptr, "a statement of an input nest adds to the output");
    Columns holds(1, 1.0);
    for (const Expression& condition : statement.guard) {
      holds = both(std::move(holds), conditions(condition));
      if (holds.size() == 1 && holds.front() == 0) {
        return;
      }
    }
    const Columns added = values(update->value);
    for (std::size_t column = 0; column < result_.values.size(); ++column) {
      if (at(holds, column) != 0) {
        result_.values[column] += at(added, column);
        result_.magnitudes[column] += std::abs(at(added, column));
      }
    }
  }

  /// Not zero where neither is.
  static Columns both(Columns left, const Columns& right) {
    if (left.size() == 1) {
      return left.front() != 0 ? right : left;
    }
    for (std::size_t column = 0; column < left.size(); ++column) {
      left[column] = at(right, column) != 0 ? left[column] : 0;
    }
    return left;
  }

  /// A comparison of affine expressions: where `margin` is at least `least`. For each value that it has had in the
  /// first column, where it holds: with a filter there are as many values as taps, and the same ones for each of many
  /// non-zeros.
  struct AffineComparison {
    Affine margin;
    std::int64_t least = 0;
    std::map<std::int64_t, Columns> holds = {};
  };

  static std::optional<AffineComparison> affine_comparison(const Expression& condition) {
    const auto* operation = std::get_if<Operation>(&condition.content);
    const bool is_less = operation != nullptr && operation->op == Operator::less;
    if ((!is_less && (operation == nullptr || operation->op != Operator::at_most)) ||
        operation->operands.at(0).affine() == nullptr || operation->operands.at(1).affine() == nullptr) {
      return std::nullopt;
    }
    return AffineComparison{*operation->operands[1].affine() - *operation->operands[0].affine(), is_less ? 1 : 0};
  }

  /// 1 where the condition holds, else 0.
  Columns conditions(const Expression& condition) {
    auto known = comparisons_.find(&condition);
    if (known == comparisons_.end()) {
      known = comparisons_.emplace(&condition, affine_comparison(condition)).first;
    }
    if (!known->second) {
      return values(condition);
    }
    AffineComparison& comparison = *known->second;
    const std::int64_t first = evaluate(comparison.margin);
    auto holds = comparison.holds.find(first);
    if (holds == comparison.holds.end()) {
      const auto compare = [least = comparison.least](std::int64_t margin) { return margin >= least ? 1.0 : 0.0; };
      holds = comparison.holds.emplace(first, along(comparison.margin, compare)).first;
    }
    return holds->second;
  }

  Columns values(const Expression& expression) const {
    if (const Affine* affine = expression.affine()) {
      return along(*affine, [](std::int64_t value) { return static_cast<double>(value); });
    }
    if (const double* constant = std::get_if<double>(&expression.content)) {
      return {*constant};
    }
    if (const Access* access = expression.access()) {
      return elements(*access);
    }
    const auto* operation = std::get_if<Operation>(&expression.content);
    ESC_CHECK(operation != nullptr, "a value of an input nest is made of elements, numbers and operations");
    std::vector<Columns> operands;
    for (const Expression& operand : operation->operands) {
      operands.push_back(values(operand));
    }
    if (operation->op == Operator::multiply) {
      return product_of(operands);
    }
    return combined(operands, [operation](const std::vector<double>& each) { return calculate(operation->op, each); });
  }

  /// The product of all operands, which is what nearly all time goes into.
  static Columns product_of(std::vector<Columns> operands) {
    const auto widest = std::ranges::max_element(operands, {}, &Columns::size);
    Columns result = std::move(*widest);
    for (auto factor = operands.begin(); factor != operands.end(); ++factor) {
      if (factor == widest) {
        continue;
      }
      for (std::size_t column = 0; column < result.size(); ++column) {
        result[column] *= at(*factor, column);
      }
    }
    return result;
  }

  static Columns combined(const std::vector<Columns>& operands,
                          const std::function<double(const std::vector<double>&)>& combine) {
    std::size_t width = 1;
    for (const Columns& operand : operands) {
      width = std::max(width, operand.size());
    }
    Columns result(width);
    std::vector<double> each(operands.size());
    for (std::size_t column = 0; column < width; ++column) {
      std::ranges::transform(operands, each.begin(), [column](const Columns& operand) { return at(operand, column); });
      result[column] = combine(each);
    }
    return result;
  }

  /// A value of an affine expression for each wanted column of C.
  template <typename Use>
  Columns along(const Affine& affine, const Use& use) const {
    const std::int64_t first = evaluate(affine);
    if (std::ranges::none_of(digits_.columns, [&](const Digit& digit) { return affine.mentions(digit.name); })) {
      return {use(first)};
    }
    Columns result(result_.values.size());
    if (column_digits_.empty()) {
      const std::int64_t step = affine.coefficient(digits_.columns.front().name);
      for (std::size_t column = 0; column < result.size(); ++column) {
        result[column] = use(first + step * b_.column(column));
      }
      return result;
    }
    std::vector<std::int64_t> values(result.size(), first);
    for (std::size_t at = 0; at < column_digits_.size(); ++at) {
      const std::int64_t step = affine.coefficient(digits_.columns[at].name);
      for (std::size_t column = 0; step != 0 && column < values.size(); ++column) {
        values[column] += step * column_digits_[at][column];
      }
    }
    std::ranges::transform(values, result.begin(), use);
    return result;
  }

  /// The number of the reduction that its iterators make now.
  std::int64_t reduction() const {
    if (at_nonzero_) {
      return *at_nonzero_;
    }
    std::int64_t number = 0;
    for (const Digit& digit : digits_.reductions) {
      const std::int64_t value = evaluate(Affine::of(digit.name));
      number = &digit == &digits_.reductions.front() ? value : number * digit.extent.constant() + value;
    }
    return number;
  }

  Columns elements(const Access& access) const {
    if (access.array == nest_.array(ArrayRole::sparse).name) {
      return {sparse_value(reduction())};
    }
    ESC_CHECK(access.array == nest_.array(ArrayRole::dense).name, "a factor is the sparse or the dense array");
    const double* const first = b_.elements.data() + reduction() * b_.ldb;
    if (b_.columns.empty()) {
      return {first, first + b_.n};
    }
    Columns result;
    result.reserve(b_.wanted());
    std::ranges::transform(b_.columns, std::back_inserter(result),
                           [first](std::int64_t column) { return first[column]; });
    return result;
  }

  double sparse_value(std::int64_t column) const {
    const auto found = std::ranges::lower_bound(columns_of_row_, column);
    return found != columns_of_row_.end() && *found == column
               ? values_of_row_[static_cast<std::size_t>(found - columns_of_row_.begin())]
               : 0.0;
  }

  const LoopNest& nest_;
  const ProductDigits& digits_;
  const DenseOperand& b_;
  std::optional<std::int64_t> at_nonzero_;  ///< the number of the reduction, whose iterators have their values too
  std::vector<std::vector<std::int64_t>> column_digits_;  ///< of each wanted column, where columns have several
  std::span<const std::int32_t> columns_of_row_;
  std::span<const double> values_of_row_;
  std::vector<std::pair<std::string, std::int64_t>> names_;
  std::map<const Expression*, std::optional<AffineComparison>>
      comparisons_;  ///< of the guards; nothing for another condition
  RowOfC result_;
};

}  // namespace

NestProduct::NestProduct(const LoopNest& nest, const SparseMatrix& a) : nest_(nest), digits_(digits_of(nest)), a_(a) {}

RowOfC NestProduct::row(std::int64_t row, const DenseOperand& b) const { return RowOfNest(*this, row, b).run(); }

}  // namespace esc
