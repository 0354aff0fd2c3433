#include "generator/ir/interpret.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <tuple>
#include <utility>

#include "generator/ir/print.h"
#include "generator/ir/race_check.h"
#include "generator/support/error.h"

namespace esc {
namespace {

/// An array that every block has of its own, with what the present block wrote of it.
struct LocalArray {
  Tensor tensor;
  std::vector<bool> written;
};

template <typename Value>
using Values = std::map<std::string, Value, std::less<>>;

/// Gives names values as long as the body lasts that defines them; then the values around it are there again.
template <typename Value>
class ScopedValues {
 public:
  explicit ScopedValues(Values<Value> values = {}) : values_(std::move(values)) {}

  const Values<Value>& values() const { return values_; }
  Value* find(const std::string& name) {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  }
  void define(const std::string& name, Value value) {
    const auto found = values_.find(name);
    hidden_.emplace_back(name, found == values_.end() ? std::nullopt : std::optional<Value>(found->second));
    values_[name] = value;
  }

  std::size_t open() const { return hidden_.size(); }
  void close(std::size_t opened) {
    for (; hidden_.size() > opened; hidden_.pop_back()) {
      const auto& [name, value] = hidden_.back();
      if (value) {
        values_[name] = *value;
      } else {
        values_.erase(name);
      }
    }
  }

 private:
  Values<Value> values_;
  std::vector<std::pair<std::string, std::optional<Value>>> hidden_;  ///< what each definition hides, latest last
};

bool is_local(const ArrayDeclaration& array) {
  return array.role == ArrayRole::registers || array.role == ArrayRole::shared;
}

bool is_grid(Mapping mapping) { return mapping == Mapping::grid || mapping == Mapping::grid_y; }

class Interpreter {
 public:
  Interpreter(const LoopNest& nest, Memory memory) : memory_(std::move(memory)), variables_(memory_.sizes) {
    for (const DerivedSize& size : nest.derived_sizes) {
      variables_.define(size.name, (evaluate(size.numerator) + size.divisor - 1) / size.divisor);
    }
    for (const ArrayDeclaration& array : nest.arrays) {
      if (array.role == ArrayRole::sparse) {
        sparse_ = array.name;
      } else if (is_local(array)) {
        locals_[array.name] = local_array(array);
      }
    }
  }

  Memory run(const Block& block) && {
    execute(block);
    return std::move(memory_);
  }

 private:
  LocalArray local_array(const ArrayDeclaration& array) {
    LocalArray local;
    std::int64_t elements = 1;
    for (const Affine& extent : array.extents) {
      local.tensor.extents.push_back(evaluate(extent));
      elements *= local.tensor.extents.back();
    }
    local.tensor.elements.resize(static_cast<std::size_t>(elements));
    local.written.resize(static_cast<std::size_t>(elements));
    return local;
  }

  void execute(const Block& block) {
    for (const Node& node : block) {
      std::visit([this](const auto& content) { execute(content); }, node.content);
    }
  }

  void execute(const Loop& loop) {
    const std::int64_t lower = evaluate(loop.lower);
    const std::int64_t upper = evaluate(loop.upper);
    ESC_CHECK((upper - lower) % loop.multiple == 0, fmt::format("{} iterations of loop {} are no multiple of {}",
                                                                upper - lower, loop.iterator, loop.multiple));
    const bool threads = loop.mapping != Mapping::sequential && !is_grid(loop.mapping);
    const std::int64_t outer_iteration = iteration_;
    const bool outermost_threads = threads && !inside_threads_;
    if (outermost_threads) {
      inside_threads_ = true;
      ++phase_;
    }
    for (std::int64_t value = lower; value < upper; value += loop.step) {
      if (loop.mapping != Mapping::sequential) {
        iteration_ = ++iterations_;
      }
      if (is_grid(loop.mapping)) {
        begin_block();
      }
      execute_with(loop.iterator, value, loop.body);
    }
    if (outermost_threads) {
      inside_threads_ = false;
      ++phase_;
    }
    iteration_ = outer_iteration;
  }

  void begin_block() {
    for (auto& [name, array] : locals_) {
      array.written.assign(array.written.size(), false);
    }
    ++phase_;
  }

  /// One iteration of a loop: what its body defines ends with it.
  void execute_with(const std::string& iterator, std::int64_t value, const Block& body) {
    const std::size_t variables = variables_.open();
    const std::size_t scalars = scalars_.open();
    variables_.define(iterator, value);
    execute(body);
    variables_.close(variables);
    scalars_.close(scalars);
  }

  void execute(const ColumnLoop& loop) {
    for (const std::int64_t column : columns(loop.set)) {
      execute_with(loop.iterator, column, loop.body);
    }
  }

  void execute(const Switch& choice) {
    std::uint64_t value = 0;
    if (const auto* pattern = std::get_if<ColumnPattern>(&choice.subject)) {
      value = column_mask(evaluate(pattern->first_row), evaluate(pattern->column), pattern->height);
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
      variables_.define(index->name, holds ? evaluate(index->value) : 0);
    } else if (const auto* element = std::get_if<DefineElement>(&statement.action)) {
      scalars_.define(element->name, holds ? value(element->value) : 0.0);
    } else if (const auto* store = std::get_if<Store>(&statement.action); holds && store != nullptr) {
      write(store->target, false) = value(store->value);
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
      scalar_value(*scalar) += product;
      return;
    }
    const auto& target = std::get<Access>(update.target);
    if (!update.atomic) {
      read(target);
    }
    write(target, update.atomic) += product;
  }

  bool guard_holds(const Guard& guard) {
    for (const Condition& condition : guard) {
      if (const auto* less = std::get_if<Less>(&condition)) {
        if (evaluate(less->left) >= evaluate(less->right)) {
          return false;
        }
      } else if (read(std::get<NonZero>(condition).access) == 0.0) {
        return false;
      }
    }
    return true;
  }

  double value(const Operand& operand) {
    if (const auto* access = std::get_if<Access>(&operand)) {
      return read(*access);
    }
    if (const auto* scalar = std::get_if<std::string>(&operand)) {
      return scalar_value(*scalar);
    }
    return std::get<double>(operand);
  }

  double& scalar_value(const std::string& name) {
    double* const found = scalars_.find(name);
    ESC_CHECK(found != nullptr, "no value for scalar " + name);
    return *found;
  }

  std::int64_t variable(const std::string& name) {
    const std::int64_t* const found = variables_.find(name);
    ESC_CHECK(found != nullptr, "no value for index variable " + name);
    return *found;
  }

  std::int64_t evaluate(const IndexExpression& expression) {
    return std::visit([this](const auto& alternative) { return evaluate(alternative); }, expression);
  }
  std::int64_t evaluate(const Affine& affine) { return affine.evaluate(variables_.values()); }
  std::int64_t evaluate(const Access& access) { return static_cast<std::int64_t>(read(access)); }
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
  std::int64_t evaluate(const Minimum& minimum) { return std::min(evaluate(minimum.left), evaluate(minimum.right)); }
  std::int64_t evaluate(const ColumnCount& count) { return static_cast<std::int64_t>(columns(count.set).size()); }
  std::int64_t evaluate(const ColumnAt& at) {
    return columns(at.set).at(static_cast<std::size_t>(evaluate(at.position)));
  }

  std::uint64_t mask(const std::string& name) { return static_cast<std::uint64_t>(variable(name)); }

  double read(const Access& access) {
    if (const auto local = locals_.find(access.array); local != locals_.end()) {
      const std::size_t at = position(local->second.tensor, access);
      ESC_CHECK(local->second.written[at], print(access) + " is read before it is written");
      const double& element = local->second.tensor.elements[at];
      races_.read(&element, {iteration_, phase_}, access);
      return element;
    }
    const Tensor& tensor = array(access.array);
    return tensor.elements.at(position(tensor, access));
  }

  /// The element, to be written. No barrier orders the blocks' writes to what is not their own.
  double& write(const Access& access, bool atomic) {
    const auto local = locals_.find(access.array);
    Tensor& tensor = local == locals_.end() ? array(access.array) : local->second.tensor;
    const std::size_t at = position(tensor, access);
    double& element = tensor.elements.at(at);
    if (local != locals_.end()) {
      ESC_CHECK(!atomic || local->second.written[at], print(access) + " is added to before it is written");
      local->second.written[at] = true;
    }
    races_.write(&element, {iteration_, local == locals_.end() ? 0 : phase_}, atomic, access);
    return element;
  }

  Tensor& array(const std::string& name) {
    const auto found = memory_.arrays.find(name);
    ESC_CHECK(found != memory_.arrays.end(), "no array " + name);
    return found->second;
  }

  std::size_t position(const Tensor& tensor, const Access& access) {
    ESC_CHECK(tensor.extents.size() == access.subscripts.size(), "rank of " + print(access));
    std::int64_t position = 0;
    for (std::size_t dimension = 0; dimension < tensor.extents.size(); ++dimension) {
      const Subscript& subscript = access.subscripts[dimension];
      const std::int64_t offset = subscript.offset.empty() ? 0 : variable(subscript.offset);
      const std::int64_t index = offset + evaluate(subscript.affine);
      ESC_CHECK(index >= 0 && index < tensor.extents[dimension],
                fmt::format("{} is outside the array: index {} of dimension {}", print(access), index, dimension));
      position = position * tensor.extents[dimension] + index;
    }
    return static_cast<std::size_t>(position);
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

  /// The columns of a set, computed once for each panel and pattern.
  const std::vector<std::int64_t>& columns(const ColumnSet& set) {
    const Pattern& pattern = set.pattern;
    const std::int64_t first_row = variable(set.first_row);
    const auto [entry, fresh] = columns_.try_emplace({first_row, pattern, set.membership});
    if (fresh) {
      const std::int64_t count = memory_.arrays.at(sparse_).extents[1];
      for (std::int64_t column = 0; column < count; ++column) {
        const std::uint64_t mask = column_mask(first_row, column, pattern.height);
        if (set.membership == Membership::any ? (mask & pattern.mask) != 0 : mask == pattern.mask) {
          entry->second.push_back(column);
        }
      }
    }
    return entry->second;
  }

  Memory memory_;
  Values<LocalArray> locals_;
  ScopedValues<std::int64_t> variables_;
  ScopedValues<double> scalars_;
  std::map<std::tuple<std::int64_t, Pattern, Membership>, std::vector<std::int64_t>> columns_;
  RaceCheck races_;
  std::string sparse_;
  std::int64_t iteration_ = 0;
  std::int64_t iterations_ = 0;
  std::int64_t phase_ = 0;
  bool inside_threads_ = false;
};

}  // namespace

Memory interpret(const LoopNest& nest, Memory memory) { return Interpreter(nest, std::move(memory)).run(nest.body); }

}  // namespace esc
