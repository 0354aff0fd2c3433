#include "generator/ir/interpret.h"

#include <fmt/format.h>

#include <bit>
#include <unordered_map>
#include <utility>

#include "generator/ir/print.h"
#include "generator/support/error.h"

namespace esc {
namespace {

class Interpreter {
 public:
  Interpreter(const LoopNest& nest, Memory memory) : memory_(std::move(memory)), variables_(memory_.sizes) {
    for (const DerivedSize& size : nest.derived_sizes) {
      variables_[size.name] = (size.numerator.evaluate(variables_) + size.divisor - 1) / size.divisor;
    }
    for (const ArrayDeclaration& array : nest.arrays) {
      if (array.role == ArrayRole::sparse) {
        sparse_ = array.name;
      }
    }
  }

  Memory run(const Block& block) && {
    execute(block);
    return std::move(memory_);
  }

 private:
  struct Writer {
    std::int64_t iteration = 0;
    bool atomic = false;
  };

  void execute(const Block& block) {
    for (const Node& node : block) {
      std::visit([this](const auto& content) { execute(content); }, node.content);
    }
  }

  void execute(const Loop& loop) {
    const std::int64_t upper = loop.upper.evaluate(variables_);
    const std::int64_t outer_iteration = iteration_;
    for (std::int64_t value = loop.lower.evaluate(variables_); value < upper; value += loop.step) {
      variables_[loop.iterator] = value;
      if (loop.mapping != Mapping::sequential) {
        iteration_ = ++iterations_;
      }
      execute(loop.body);
    }
    iteration_ = outer_iteration;
  }

  void execute(const ColumnLoop& loop) {
    for (const std::int64_t column : columns(loop.set)) {
      variables_[loop.iterator] = column;
      execute(loop.body);
    }
  }

  void execute(const Switch& choice) {
    std::uint64_t value = 0;
    if (const auto* pattern = std::get_if<ColumnPattern>(&choice.subject)) {
      value = column_mask(pattern->first_row.evaluate(variables_), pattern->column.evaluate(variables_),
                          pattern->height);
    } else {
      value = static_cast<std::uint64_t>(variable(std::get<std::string>(choice.subject)));
    }
    for (const Case& one : choice.cases) {
      const auto* pattern = std::get_if<Pattern>(&one.label);
      const std::uint64_t label =
          pattern != nullptr ? pattern->mask : static_cast<std::uint64_t>(std::get<std::int64_t>(one.label));
      if (label == value) {
        execute(one.body);
        return;
      }
    }
  }

  void execute(const Statement& statement) {
    const bool holds = guard_holds(statement.guard);
    if (const auto* index = std::get_if<DefineIndex>(&statement.action)) {
      variables_[index->name] = evaluate(index->value);
    } else if (const auto* element = std::get_if<DefineElement>(&statement.action)) {
      scalars_[element->name] = holds ? value(element->value) : 0.0;
    } else if (holds) {
      update(std::get<Update>(statement.action));
    }
  }

  void update(const Update& update) {
    double product = 1.0;
    for (const Operand& factor : update.factors) {
      product *= value(factor);
    }
    if (const auto* scalar = std::get_if<std::string>(&update.target)) {
      scalars_.at(*scalar) += product;
      return;
    }
    double& element = locate(std::get<Access>(update.target));
    const auto [writer, first] = writers_.try_emplace(&element, Writer{iteration_, update.atomic});
    ESC_CHECK(first || writer->second.iteration == iteration_ || (writer->second.atomic && update.atomic),
              "race: two parallel iterations add to " + print(update.target));
    writer->second = {iteration_, update.atomic};
    element += product;
  }

  bool guard_holds(const Guard& guard) {
    for (const Condition& condition : guard) {
      if (const auto* less = std::get_if<Less>(&condition)) {
        if (less->left.evaluate(variables_) >= less->right.evaluate(variables_)) {
          return false;
        }
      } else if (locate(std::get<NonZero>(condition).access) == 0.0) {
        return false;
      }
    }
    return true;
  }

  double value(const Operand& operand) {
    if (const auto* access = std::get_if<Access>(&operand)) {
      return locate(*access);
    }
    if (const auto* scalar = std::get_if<std::string>(&operand)) {
      const auto found = scalars_.find(*scalar);
      ESC_CHECK(found != scalars_.end(), "no value for scalar " + *scalar);
      return found->second;
    }
    return std::get<double>(operand);
  }

  std::int64_t variable(const std::string& name) const {
    const auto found = variables_.find(name);
    ESC_CHECK(found != variables_.end(), "no value for index variable " + name);
    return found->second;
  }

  std::int64_t evaluate(const IndexExpression& expression) {
    return std::visit([this](const auto& alternative) { return evaluate(alternative); }, expression);
  }
  std::int64_t evaluate(const Affine& affine) { return affine.evaluate(variables_); }
  std::int64_t evaluate(const Access& access) { return static_cast<std::int64_t>(locate(access)); }
  std::int64_t evaluate(const Quotient& quotient) { return variable(quotient.numerator) / quotient.divisor; }
  std::int64_t evaluate(const Remainder& rest) { return variable(rest.numerator) % rest.divisor; }
  std::int64_t evaluate(const RoundDown& round) {
    const std::int64_t number = variable(round.value);
    return number - number % round.multiple;
  }
  std::int64_t evaluate(const PopulationCount& count) { return std::popcount(mask(count.mask)); }
  std::int64_t evaluate(const LowestSetBit& bit) {
    ESC_CHECK(mask(bit.mask) != 0, "the mask " + bit.mask + " has a set bit");
    return std::countr_zero(mask(bit.mask));
  }
  std::int64_t evaluate(const ClearLowestSetBit& clear) {
    return static_cast<std::int64_t>(mask(clear.mask) & (mask(clear.mask) - 1));
  }
  std::int64_t evaluate(const ColumnCount& count) { return static_cast<std::int64_t>(columns(count.set).size()); }
  std::int64_t evaluate(const ColumnAt& at) {
    return columns(at.set).at(static_cast<std::size_t>(at.position.evaluate(variables_)));
  }

  std::uint64_t mask(const std::string& name) const { return static_cast<std::uint64_t>(variable(name)); }

  double& locate(const Access& access) {
    const auto found = memory_.arrays.find(access.array);
    ESC_CHECK(found != memory_.arrays.end(), "no array " + access.array);
    Tensor& tensor = found->second;
    ESC_CHECK(tensor.extents.size() == access.subscripts.size(), "rank of " + print(access));
    std::int64_t position = 0;
    for (std::size_t dimension = 0; dimension < tensor.extents.size(); ++dimension) {
      const Subscript& subscript = access.subscripts[dimension];
      const std::int64_t offset = subscript.offset.empty() ? 0 : variable(subscript.offset);
      const std::int64_t index = offset + subscript.affine.evaluate(variables_);
      ESC_CHECK(index >= 0 && index < tensor.extents[dimension],
                fmt::format("{} is outside the array: index {} of dimension {}", print(access), index, dimension));
      position = position * tensor.extents[dimension] + index;
    }
    return tensor.elements.at(static_cast<std::size_t>(position));
  }

  std::uint64_t column_mask(std::int64_t first_row, std::int64_t column, int height) const {
    const Tensor& a = memory_.arrays.at(sparse_);
    std::uint64_t result = 0;
    for (int row = 0; row < height && first_row + row < a.extents[0]; ++row) {
      const auto position = static_cast<std::size_t>((first_row + row) * a.extents[1] + column);
      if (a.elements[position] != 0.0) {
        result |= std::uint64_t{1} << row;
      }
    }
    return result;
  }

  /// The columns of a set, computed once for each (panel, pattern).
  const std::vector<std::int64_t>& columns(const ColumnSet& set) {
    const Pattern& pattern = set.pattern;
    const std::int64_t first_row = variable(set.first_row);
    const auto [entry, fresh] = columns_.try_emplace({first_row, pattern});
    if (fresh) {
      const std::int64_t count = memory_.arrays.at(sparse_).extents[1];
      for (std::int64_t column = 0; column < count; ++column) {
        if (column_mask(first_row, column, pattern.height) == pattern.mask) {
          entry->second.push_back(column);
        }
      }
    }
    return entry->second;
  }

  Memory memory_;
  Environment variables_;
  std::map<std::string, double, std::less<>> scalars_;
  std::map<std::pair<std::int64_t, Pattern>, std::vector<std::int64_t>> columns_;
  std::unordered_map<const double*, Writer> writers_;
  std::string sparse_;
  std::int64_t iteration_ = 0;
  std::int64_t iterations_ = 0;
};

}  // namespace

Memory interpret(const LoopNest& nest, Memory memory) {
  return Interpreter(nest, std::move(memory)).run(nest.body);
}

}  // namespace esc
