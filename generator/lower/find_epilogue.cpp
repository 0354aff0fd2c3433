// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/find_epilogue.h"

#include <algorithm>
#include <map>

#include "generator/ir/print.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/epilogue_operands.h"
#include "generator/lower/epilogue_steps.h"

namespace esc {
namespace {

using Element = NestPart::Element;
using Loops = std::vector<const Loop*>;

bool is_zero(const Expression& expression) { return expression == Expression(0.0) || expression == Expression(0); }

bool stands_in(const Loops& around, const Loops& inner) {
  return around.size() <= inner.size() && std::equal(around.begin(), around.end(), inner.begin());
}

std::size_t shared_loops(const Loops& left, const Loops& right) {
  return static_cast<std::size_t>(std::ranges::mismatch(left, right).in1 - left.begin());
}

/// Whether the statement gives the local another value.
bool sets(const NestedStatement& statement, const std::string& local) {
  const auto* define = statement.action<Define>();
  const auto* update = statement.action<Update>();
  return (define != nullptr && define->name == local) ||
         (update != nullptr && update->target == Expression(Name{local}));
}

/// Runs through the statements of a nest, with expressions for the values of its locals and of the output's element.
class EpilogueFinder {
 public:
  EpilogueFinder(const LoopNest& nest, const std::vector<NestedStatement>& statements, std::size_t update)
      : nest_(nest),
        statements_(statements),
        update_(update),
        gathered_(name_in(gathering().target)),
        operands_(nest, statements[update], result_.output),
        steps_(nest, statements) {
    find_output();
  }

  FoundEpilogue find() && {
    for (std::size_t at = 0; at < statements_.size(); ++at) {
      if (at == update_) {
        complete_sum();
      } else if (const auto* define = statements_[at].action<Define>()) {
        set_local(*define, at);
      } else {
        change_output(at);
      }
    }
    if (!element_ || !steps_.depends_on_sum(*element_)) {
      refuse_store(statements_[update_].part());
    }
    if (*element_ != Expression(the_sum)) {
      finish();
    }
    result_.accesses = operands_.accesses();
    return std::move(result_);
  }

 private:
  /// What a local stands for, and the loops in which it was set.
  struct Local {
    Expression value;
    Loops loops;
  };

  const Update& gathering() const { return *statements_[update_].action<Update>(); }
  ScalarType type() const { return nest_.find_array(result_.output.array)->type; }
  /// The loops of the product that are around those of the reduction, where a local gathers the sum: as many as index
  /// the output.
  Loops loops_around_reduction() const {
    const Loops& loops = statements_[update_].loops;
    const std::size_t count = std::min(result_.output.subscripts.size(), loops.size() - 1);
    return {loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(count)};
  }
  /// The loops of the reduction, and those around them, in words.
  std::pair<const char*, const char*> words_for_loops() const {
    return statements_[update_].loops.size() == 3 ? std::pair("the innermost loop", "the two loops around it")
                                                  : std::pair("the loops of the reduction", "those around them");
  }

  [[noreturn]] void refuse_store(const NestPart& part) const {
    const auto& [reduction, around] = words_for_loops();
    refuse(part, "{} is expected to be stored to the output after {}, in {}", print(gathering().target), reduction,
           around);
  }

  /// Where the update gathers in a local, the output is what is changed next after it.
  void find_output() {
    result_.output_part = statements_[update_].part(Element::target);
    if (gathered_ == nullptr) {
      result_.output = *gathering().target.access();
      return;
    }
    const auto store = std::find_if(statements_.begin() + static_cast<std::ptrdiff_t>(update_) + 1, statements_.end(),
                                    [](const NestedStatement& one) { return changed_element(one) != nullptr; });
    if (store == statements_.end()) {
      refuse_store(statements_[update_].part());
    }
    result_.output = *changed_element(*store);
    if (result_.output.subscripts.size() != store->loops.size() || store->loops != loops_around_reduction() ||
        !store->statement->guard.empty()) {
      refuse_store(store->part());
    }
    result_.output_part = store->part(Element::target);
  }

  // One statement after the other.

  void set_local(const Define& define, std::size_t at) {
    const NestedStatement& statement = statements_[at];
    const std::optional<Position> position = position_of_reader(at);
    if (!position || !statement.statement->guard.empty()) {
      locals_.erase(define.name);
      return;
    }
    if (is_narrower(define.type)) {
      refuse(statement.part(), "{} is narrower than the elements {}: expected {} bits", define.name,
             gathered_ != nullptr && define.name == gathered_->name ? "it gathers" : "of " + result_.output.array,
             8 * bytes_of(type()));
    }
    const Expression value = read(define.value, statement, *position, at);
    const bool starts_sum = at < update_ && gathered_ != nullptr && define.name == gathered_->name;
    locals_[define.name] = {starts_sum ? value : steps_.named(define.name, value), statement.loops};
  }

  /// What is read in this place is of the first element that is changed inside the same loops after it.
  std::optional<Position> position_of_reader(std::size_t at) const {
    for (std::size_t later = at + 1; later < statements_.size(); ++later) {
      const Access* element = changed_element(statements_[later]);
      if (later != update_ && element != nullptr && stands_in(statements_[at].loops, statements_[later].loops)) {
        return position_of(*element, statements_[later]);
      }
    }
    return std::nullopt;
  }

  void complete_sum() {
    if (gathered_ == nullptr) {
      element_ = with_start(element_.value_or(0.0));
      return;
    }
    const NestedStatement* start = nullptr;
    for (std::size_t at = 0; at < update_; ++at) {
      start = sets(statements_[at], gathered_->name) ? &statements_[at] : start;
    }
    if (start == nullptr || start->loops != loops_around_reduction() || !start->statement->guard.empty()) {
      const auto& [reduction, around] = words_for_loops();
      refuse(start != nullptr ? start->part() : statements_[update_].part(),
             "{} is expected to be set to 0 before {}, in {}", gathered_->name, reduction, around);
    }
    steps_.name_sum(gathered_->name);
    Local& local = locals_.at(gathered_->name);
    local.value = steps_.named(gathered_->name, with_start(local.value));
  }

  /// The sum that began with this value: the kernel's begins with 0.
  Expression with_start(const Expression& start) const {
    return is_zero(start) ? Expression(the_sum) : Expression(the_sum) + start;
  }

  void change_output(std::size_t at) {
    const NestedStatement& statement = statements_[at];
    const std::string& output = result_.output.array;
    const Access& target = *changed_element(statement);
    if (target.array != output) {
      refuse(statement.part(), "{} is changed here, but only the output {} may be", target.array, output);
    }
    const char* const what = at < update_ ? "set to 0" : "changed";
    if (statement.loops.size() != result_.output.subscripts.size() || !statement.statement->guard.empty()) {
      refuse(statement.part(), "{} is expected to be {} once per element, {} the reduction loop and without a guard",
             output, what, at < update_ ? "before" : "after");
    }
    const Position position = position_of(target, statement);
    const Position of_product = this->of_product();
    if (!std::ranges::equal(position, of_product,
                            [&](const Loop* loop, const Loop* other) { return covers(loop, *other); })) {
      refuse(statement.part(), "{} is expected to be {} over the same rows and columns as it is added to", output,
             what);
    }
    const auto* update = statement.action<Update>();
    Expression value =
        read(update != nullptr ? update->value : statement.action<Store>()->value, statement, position, at);
    if (update != nullptr && element_ && !is_zero(*element_)) {
      value = element() + value;
    }
    if (element_ && steps_.depends_on_sum(*element_) && !steps_.depends_on_sum(value)) {
      refuse(statement.part(),
             "{0} loses its sums here: expected it to be set before the reduction loop, or to a value made of {1}",
             output, print(target));
    }
    element_ = value;
  }

  /// Whether the loop runs over a dimension of the output as that of the product does: it is the same, or another with
  /// its bound.
  bool covers(const Loop* loop, const Loop& of_product) const {
    const Loops& loops = statements_[update_].loops;
    return std::ranges::find(loops, loop) != loops.end() ? loop == &of_product : loop->upper == of_product.upper;
  }

  /// The loops of the product over the dimensions of the output.
  Position of_product() const { return position_of(result_.output, statements_[update_]); }

  // What an expression stands for.

  Expression read(const Expression& value, const NestedStatement& statement, const Position& position, std::size_t at) {
    std::size_t number = 0;
    return rewrite(value, {.expression = [&](const Expression& part) -> Expression {
                     if (const auto* convert = std::get_if<Convert>(&part.content)) {
                       return converted(*convert, statement);
                     }
                     if (const Access* access = part.access()) {
                       return read_element(*access, statement.part(Element::operand, number++), position);
                     }
                     if (const Name* name = name_in(part)) {
                       return read_local(name->name, statement.part(Element::operand, number++), at);
                     }
                     return part;
                   }});
  }

  /// Whether the type has fewer digits, or fewer powers of two, than the output's. Of two types of 16 bits each has
  /// less of one than the other.
  bool is_narrower(ScalarType type) const {
    return bytes_of(type) < bytes_of(this->type()) || (is_half(type) && type != this->type());
  }

  /// A kernel has one type for all its values: what is narrowed to it anyway needs no conversion of its own.
  Expression converted(const Convert& convert, const NestedStatement& statement) const {
    if (is_narrower(convert.type)) {
      refuse(statement.part(), "a value is narrowed to {} here, but {} holds {}: expected that type throughout",
             nest_name(convert.type), result_.output.array, nest_name(type()));
    }
    return convert.operand.front();
  }

  Expression read_local(const std::string& name, const NestPart& part, std::size_t at) const {
    const Loops& here = statements_[at].loops;
    const auto found = locals_.find(name);
    if (found == locals_.end() || !stands_in(found->second.loops, here)) {
      refuse(part,
             "{} has no value here for each element: expected it to be set before, in loops around this place and "
             "without a guard",
             name);
    }
    const bool goes_on =
        std::any_of(statements_.begin() + static_cast<std::ptrdiff_t>(at), statements_.end(), [&](const auto& later) {
          return sets(later, name) && shared_loops(here, later.loops) > found->second.loops.size();
        });
    if (goes_on) {
      refuse(part, "{} goes from one iteration to the next here: expected it to be set anew for each element", name);
    }
    return found->second.value;
  }

  Expression read_element(const Access& access, const NestPart& part, const Position& position) {
    if (access.array == result_.output.array) {
      const Access changed = element_at(position, access.array);
      if (access != changed) {
        refuse(part, "{} is read here: expected no other element of the output than the one that is changed, {}",
               print(access), print(changed));
      }
      if (!element_) {
        refuse(part, "{} is read before it is set: expected its sum to be stored first", print(access));
      }
      return element();
    }
    return operands_.read(access, part, position);
  }

  /// The output's element as a name, so that it may be read more than once.
  Expression element() {
    if (name_in(*element_) == nullptr) {
      element_ = steps_.add("value", *element_);
    }
    return *element_;
  }

  // The end.

  void finish() {
    std::vector<std::string> subscripts;
    for (const Loop* loop : of_product()) {
      subscripts.push_back(loop->iterator);
    }
    Epilogue epilogue = steps_.finish(subscripts, *element_, sum_type(type()));
    result_.operands = operands_.declared_of(epilogue);
    result_.epilogue = std::move(epilogue);
  }

  const LoopNest& nest_;
  const std::vector<NestedStatement>& statements_;
  std::size_t update_;
  const Name* gathered_;               // the local that gathers the sum; null where the output does
  std::optional<Expression> element_;  // the output's, where it was set
  std::map<std::string, Local> locals_;
  FoundEpilogue result_;
  EpilogueOperands operands_;
  EpilogueSteps steps_;
};

}  // namespace

FoundEpilogue find_epilogue(const LoopNest& nest, const std::vector<NestedStatement>& statements, std::size_t update) {
  return EpilogueFinder(nest, statements, update).find();
}

}  // namespace esc
