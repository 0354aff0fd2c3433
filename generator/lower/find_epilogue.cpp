#include "generator/lower/find_epilogue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "generator/ir/print.h"
#include "generator/ir/rewrite.h"
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

/// The element that the statement changes; null where it changes a local.
const Access* changed_element(const NestedStatement& statement) {
  if (const auto* store = statement.action<Store>()) {
    return &store->target;
  }
  const auto* update = statement.action<Update>();
  return update != nullptr ? update->target.access() : nullptr;
}

/// Whether the statement gives the local another value.
bool sets(const NestedStatement& statement, const std::string& local) {
  const auto* define = statement.action<Define>();
  const auto* update = statement.action<Update>();
  return (define != nullptr && define->name == local) ||
         (update != nullptr && update->target == Expression(Name{local}));
}

/// The loops whose iterators index the element that a statement changes, in the order of its subscripts.
using Position = Loops;

Position position_of(const Access& element, const NestedStatement& statement) {
  Position position;
  for (const Subscript& subscript : element.subscripts) {
    const auto found =
        std::ranges::find_if(statement.loops, [&](const Loop* loop) { return subscript.affine.is_name(loop->iterator); });
    if (found == statement.loops.end()) {
      refuse(statement.part(Element::target), "subscript {} of {}: expected the iterator of one loop, alone", print(subscript.affine),
             element.array);
    }
    position.push_back(*found);
  }
  return position;
}

/// The element at this position of an array that is indexed as the output is.
Access element_at(const Position& position, const std::string& array) {
  Access element{array, {}};
  for (const Loop* loop : position) {
    element.subscripts.push_back({"", Affine::of(loop->iterator)});
  }
  return element;
}

/// Runs through the statements of a nest, with expressions for the values of its locals and of the output's element.
class EpilogueFinder {
 public:
  EpilogueFinder(const LoopNest& nest, const std::vector<NestedStatement>& statements, std::size_t update)
      : nest_(nest), statements_(statements), update_(update), gathered_(name_in(gathering().target)), steps_(nest, statements) {
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
  /// The loops of the product that stand around those of the reduction, where a local gathers the sum: as many as index the output.
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
    refuse(part, "{} is expected to be stored to the output after {}, in {}", print(gathering().target), reduction, around);
  }

  /// Where the update gathers in a local, the output is what is changed next behind it.
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
    if (type() == ScalarType::f64 && define.type == ScalarType::f32) {
      refuse(statement.part(), "{} is narrower than the elements {}: expected 64 bits", define.name,
             gathered_ != nullptr && define.name == gathered_->name ? "it gathers" : "of " + result_.output.array);
    }
    const Expression value = read(define.value, statement, *position, at);
    const bool starts_sum = at < update_ && gathered_ != nullptr && define.name == gathered_->name;
    locals_[define.name] = {starts_sum ? value : steps_.named(define.name, value), statement.loops};
  }

  /// What is read in this place is of the first element that is changed inside the same loops behind it.
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
      refuse(start != nullptr ? start->part() : statements_[update_].part(), "{} is expected to be set to 0 before {}, in {}",
             gathered_->name, reduction, around);
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
             output, what, at < update_ ? "before" : "behind");
    }
    const Position position = position_of(target, statement);
    const Position of_product = this->of_product();
    if (!std::ranges::equal(position, of_product, [&](const Loop* loop, const Loop* other) { return covers(loop, *other); })) {
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

  /// Whether the loop runs over a dimension of the output as that of the product does: it is the same, or another with its bound.
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

  /// A kernel has one type for all its values: what is narrowed to it anyway needs no conversion of its own.
  Expression converted(const Convert& convert, const NestedStatement& statement) const {
    if (bytes_of(convert.type) < bytes_of(type())) {
      refuse(statement.part(), "a value is narrowed to {} here, but {} holds {}: expected that type throughout",
             c_name(convert.type), result_.output.array, c_name(type()));
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
    require_no_factor(access, part);
    return read_operand(access, part, position);
  }

  void require_no_factor(const Access& access, const NestPart& part) const {
    for (const Expression& factor : factors(gathering().value)) {
      if (factor.access() != nullptr && factor.access()->array == access.array) {
        refuse(part, "{} is a factor of the product: expected another array in what {} becomes", access.array,
               result_.output.array);
      }
    }
  }

  Expression read_operand(const Access& access, const NestPart& part, const Position& position) {
    ArrayDeclaration operand{access.array, {}, ArrayRole::operand, nest_.find_array(access.array)->type};
    if (operand.type != type()) {
      refuse(part, "{} holds {}, {} holds {}: expected the same type", access.array, c_name(operand.type),
             result_.output.array, c_name(type()));
    }
    const Position product = of_product();
    Position found;
    for (std::size_t dimension = 0; dimension < access.subscripts.size(); ++dimension) {
      const auto loop = std::ranges::find_if(position, [&](const Loop* one) {
        return access.subscripts[dimension].affine.is_name(one->iterator);
      });
      if (loop == position.end()) {
        refuse_operand(access, part, position);
      }
      found.push_back(product[static_cast<std::size_t>(loop - position.begin())]);
      operand.extents.push_back(found.back()->upper);
    }
    if (!indexes_whole_matrices(found)) {
      refuse_operand(access, part, position);
    }
    const Access element = element_at(found, access.array);
    const auto [known, is_new] = operands_.emplace(access.array, std::pair(element, operand));
    if (!is_new && known->second.first != element) {
      refuse(part, "{} is also read as {} in what {} becomes: expected one of them", print(access),
             print(known->second.first), result_.output.array);
    }
    const std::vector<Affine>& declared = nest_.find_array(access.array)->extents;
    for (std::size_t dimension = 0; dimension < found.size(); ++dimension) {
      if (declared.at(dimension) != found[dimension]->upper) {
        refuse(part, "{} is declared with {} elements in dimension {}, but loop {} runs to {}: expected the same", access.array,
               print(declared[dimension]), dimension + 1, found[dimension]->iterator, print(found[dimension]->upper));
      }
    }
    if (result_.operand_parts.emplace(access.array, part).second) {
      result_.accesses.emplace_back(element, part);
    }
    return element;
  }

  /// The loops of the product, of those over the output, that index one of the factors.
  Position shared_with(const Expression& factor) const {
    Position shared = of_product();
    std::erase_if(shared, [&](const Loop* loop) {
      return factor.access() == nullptr || std::ranges::none_of(factor.access()->subscripts, [&](const Subscript& subscript) {
               return subscript.affine.mentions(loop->iterator);
             });
    });
    return shared;
  }

  /// Whether the loops are none, all that one of the factors shares with the output, or all over the output, each once.
  bool indexes_whole_matrices(Position loops) const {
    std::ranges::sort(loops);
    const auto is_all_of = [&](Position others) {
      std::ranges::sort(others);
      return loops == others;
    };
    return loops.empty() || is_all_of(of_product()) ||
           std::ranges::any_of(factors(gathering().value), [&](const Expression& factor) { return is_all_of(shared_with(factor)); });
  }

  [[noreturn]] void refuse_operand(const Access& access, const NestPart& part, const Position& position) const {
    const Position product = of_product();
    // What belongs together is named in the order of the output's subscripts.
    std::vector<std::string> expected;
    for (const Expression& factor : factors(gathering().value)) {
      const Position shared = shared_with(factor);
      Position here;
      for (std::size_t dimension = 0; dimension < product.size(); ++dimension) {
        if (std::ranges::find(shared, product[dimension]) != shared.end()) {
          here.push_back(position[dimension]);
        }
      }
      const bool is_first = !here.empty() && here.front() == position.front();
      expected.insert(is_first ? expected.begin() : expected.end(), print(element_at(here, access.array)));
    }
    refuse(part, "{} has a part in what {} becomes: expected a number, {} or {}", print(access), result_.output.array,
           fmt::join(expected, ", "), print(element_at(position, access.array)));
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
    Epilogue epilogue = steps_.finish(subscripts, *element_, type());
    for (const Define& step : epilogue.steps) {
      add_operands(step.value);
    }
    add_operands(epilogue.value);
    // In the order of the nest's arrays, which is that of the function's parameters.
    const auto place = [&](const ArrayDeclaration& operand) {
      return std::ranges::find(nest_.arrays, operand.name, &ArrayDeclaration::name) - nest_.arrays.begin();
    };
    std::ranges::sort(result_.operands, {}, place);
    result_.epilogue = std::move(epilogue);
  }

  void add_operands(const Expression& value) {
    for_each_operand(value, [&](const Expression& part) {
      const Access* access = part.access();
      const bool is_new =
          access != nullptr && std::ranges::none_of(result_.operands, [&](const ArrayDeclaration& operand) {
            return operand.name == access->array;
          });
      if (is_new) {
        result_.operands.push_back(operands_.at(access->array).second);
      }
    });
  }

  const LoopNest& nest_;
  const std::vector<NestedStatement>& statements_;
  std::size_t update_;
  const Name* gathered_;               // the local that gathers the sum; null where the output does
  std::optional<Expression> element_;  // the output's, where it was set
  std::map<std::string, Local> locals_;
  std::map<std::string, std::pair<Access, ArrayDeclaration>> operands_;
  EpilogueSteps steps_;
  FoundEpilogue result_;
};

}  // namespace

FoundEpilogue find_epilogue(const LoopNest& nest, const std::vector<NestedStatement>& statements, std::size_t update) {
  return EpilogueFinder(nest, statements, update).find();
}

}  // namespace esc
