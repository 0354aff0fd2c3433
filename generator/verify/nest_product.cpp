#include "generator/verify/nest_product.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <variant>

#include "generator/ir/evaluate.h"
#include "generator/support/error.h"

namespace esc {
namespace {

/// A value for each column of C; a single one where it is the same for all.
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

/// The loops that a row and a column of C stand for, wherever in the nest.
struct Iterators {
  std::string row;
  std::string column;
};

void find_iterators(const Block& block, Iterators& found) {
  for (const Node& node : block) {
    if (const auto* loop = std::get_if<Loop>(&node.content)) {
      if (loop->role == Role::row || loop->role == Role::column) {
        (loop->role == Role::row ? found.row : found.column) = loop->iterator;
      }
      find_iterators(loop->body, found);
    }
  }
}

/// The nest, run for one row.
class RowOfNest {
 public:
  RowOfNest(const LoopNest& nest, const SparseMatrix& a, std::int64_t row, const DenseOperand& b)
      : nest_(nest), row_(row), b_(b) {
    find_iterators(nest.body, iterators_);
    const auto columns = static_cast<std::size_t>(b.n);
    result_ = {Columns(columns, 0.0), Columns(columns, 0.0)};
    const auto first = static_cast<std::size_t>(a.offsets[static_cast<std::size_t>(row)]);
    const auto count = static_cast<std::size_t>(a.offsets[static_cast<std::size_t>(row) + 1]) - first;
    columns_of_row_ = std::span(a.column_of).subspan(first, count);
    values_of_row_ = std::span(a.values).subspan(first, count);
    name_sizes(ArrayRole::sparse, {a.rows, a.columns});
    name_sizes(ArrayRole::dense, {a.columns, b.n});
  }

  RowOfC run() && {
    execute(nest_.body);
    return std::move(result_);
  }

 private:
  void name_sizes(ArrayRole role, std::initializer_list<std::int64_t> sizes) {
    auto extent = nest_.array(role).extents.begin();
    for (const std::int64_t size : sizes) {
      for (const Affine::Term& term : extent->terms()) {
        set(term.name, size);
      }
      ++extent;
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

  void execute(const Loop& loop) {
    if (loop.role == Role::column) {
      execute_at(loop, 0);
    } else if (loop.role == Role::row) {
      execute_at(loop, row_);
    } else if (const Access sparse = sparse_element(loop.iterator); adds_nothing(loop.body, sparse)) {
      for (const std::int32_t k : columns_of_row_) {
        execute_at(loop, k);
      }
    } else {
      for (std::int64_t k = evaluate(loop.lower); k < evaluate(loop.upper); ++k) {
        execute_at(loop, k);
      }
    }
  }

  void execute_at(const Loop& loop, std::int64_t value) {
    set(loop.iterator, value);
    execute(loop.body);
  }

  /// The element of the sparse array in this row, at an iterator of the reduction.
  Access sparse_element(const std::string& reduction) const {
    return {nest_.array(ArrayRole::sparse).name, {{"", Affine::of(iterators_.row)}, {"", Affine::of(reduction)}}};
  }

  void execute(const Statement& statement) {
    const auto* update = std::get_if<Update>(&statement.action);
    ESC_CHECK(update != nullptr, "a statement of an input nest adds to the output");
    Columns holds(1, 1.0);
    for (const Expression& condition : statement.guard) {
      holds = combined({holds, values(condition)}, [](const std::vector<double>& both) {
        return both[0] != 0 && both[1] != 0 ? 1.0 : 0.0;
      });
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

  /// Something of an affine value, at all columns of C.
  template <typename Use>
  Columns along(const Affine& affine, const Use& use) const {
    const std::int64_t first = evaluate(affine);
    const std::int64_t step = affine.coefficient(iterators_.column);
    Columns result(step == 0 ? 1 : result_.values.size());
    for (std::size_t column = 0; column < result.size(); ++column) {
      result[column] = use(first + step * static_cast<std::int64_t>(column));
    }
    return result;
  }

  Columns elements(const Access& access) const {
    const std::int64_t row = evaluate(access.subscripts.at(0).affine);
    const Affine& second = access.subscripts.at(1).affine;
    if (access.array == nest_.array(ArrayRole::sparse).name) {
      ESC_CHECK(row == row_, "the sparse array is read in the row of C");
      return along(second, [this](std::int64_t column) { return sparse_value(column); });
    }
    ESC_CHECK(access.array == nest_.array(ArrayRole::dense).name, "a factor is the sparse or the dense array");
    const double* const first = b_.elements.data() + row * b_.ldb;
    return along(second, [first](std::int64_t column) { return first[column]; });
  }

  double sparse_value(std::int64_t column) const {
    const auto found = std::ranges::lower_bound(columns_of_row_, column);
    return found != columns_of_row_.end() && *found == column
               ? values_of_row_[static_cast<std::size_t>(found - columns_of_row_.begin())]
               : 0.0;
  }

  const LoopNest& nest_;
  Iterators iterators_;
  std::int64_t row_;
  const DenseOperand& b_;
  std::span<const std::int32_t> columns_of_row_;
  std::span<const double> values_of_row_;
  std::vector<std::pair<std::string, std::int64_t>> names_;
  RowOfC result_;
};

}  // namespace

NestProduct::NestProduct(const LoopNest& nest, const SparseMatrix& a) : nest_(nest), a_(a) {}

RowOfC NestProduct::row(std::int64_t row, const DenseOperand& b) const { return RowOfNest(nest_, a_, row, b).run(); }

}  // namespace esc
