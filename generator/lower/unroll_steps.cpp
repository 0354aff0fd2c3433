#include "generator/lower/unroll_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "generator/ir/rewrite.h"
#include "generator/lower/pack_regions.h"
#include "generator/lower/panel_nest.h"

namespace esc {
namespace {

/// The steps of one iteration: columns, loads, products.
class UnrolledSteps {
 public:
  UnrolledSteps(const Loop& steps, std::int64_t factor) : steps_(steps), factor_(factor) {}

  Loop build() const {
    Loop unrolled = steps_;
    unrolled.step = factor_;
    unrolled.body.clear();
    for (const auto part : {&UnrolledSteps::column, &UnrolledSteps::loads, &UnrolledSteps::products}) {
      for (std::int64_t s = 0; s < factor_; ++s) {
        const Block block = (this->*part)(s);
        unrolled.body.insert(unrolled.body.end(), block.begin(), block.end());
      }
    }
    return unrolled;
  }

 private:
  /// The name of the column in step s, and the statements of the body after it.
  std::string column_name(std::int64_t s) const {
    const auto& column = std::get<DefineIndex>(std::get<Statement>(steps_.body.front().content).action);
    return fmt::format("{}{}", column.name, s);
  }
  Block updates(std::int64_t s) const {
    const Block moved = at_step(s);
    return {moved.begin() + 1, moved.end()};
  }
  Block at_step(std::int64_t s) const {
    const auto& column = std::get<DefineIndex>(std::get<Statement>(steps_.body.front().content).action);
    const Block renamed = substitute(steps_.body, column.name, Affine::of(column_name(s)));
    return substitute(renamed, steps_.iterator, Affine::of(steps_.iterator) + s);
  }

  static std::string element_name(const Update& update, std::int64_t s) {
    return fmt::format("b{}_{}", s, std::get<Access>(update.factors[1]).subscripts[1].affine.constant());
  }

  Block column(std::int64_t s) const {
    Statement statement = std::get<Statement>(at_step(s).front().content);
    std::get<DefineIndex>(statement.action).name = column_name(s);
    return {Node{std::move(statement)}};
  }

  /// Each element of B once, however many rows of the panel use it.
  Block loads(std::int64_t s) const {
    Block block;
    std::string last;
    for (const Node& node : updates(s)) {
      const std::string name = element_name(update_of(node), s);
      if (name != last) {
        last = name;
        block.push_back(
            Node{Statement{std::get<Statement>(node.content).guard, DefineElement{name, update_of(node).factors[1]}}});
      }
    }
    return block;
  }

  Block products(std::int64_t s) const {
    Block block;
    for (const Node& node : updates(s)) {
      Update update = update_of(node);
      update.factors[1] = element_name(update, s);
      block.push_back(Node{Statement{{}, std::move(update)}});
    }
    return block;
  }

  const Loop& steps_;
  std::int64_t factor_;
};

/// The loop over steps whose body begins with the definition of the column `name`, or null.
Loop* find_steps(PanelNest& parts, const std::string& name) {
  for (Phase& phase : parts.phases) {
    Loop* steps = find_loop_over(phase.body, Role::reduction);
    if (steps != nullptr && find_definition(steps->body, name) != nullptr) {
      return steps;
    }
  }
  return nullptr;
}

}  // namespace

LoopNest unroll_steps(const LoopNest& nest, const Unroll& directive) {
  if (!has_regions(nest)) {
    throw ScheduleError(directive, "the sparse array is not stored in regions", "transform it into regions first");
  }
  PanelNest parts = take_apart(nest, directive);
  Loop* steps = find_steps(parts, directive.loop);
  if (steps == nullptr) {
    throw ScheduleError(directive, fmt::format("there is no loop over columns '{}' to unroll", directive.loop),
                        "unroll the reduction loop, once");
  }
  if (directive.factor < 1 || steps->multiple % directive.factor != 0) {
    throw ScheduleError(
        directive,
        fmt::format("the steps of a region are a multiple of {}, not of {}", steps->multiple, directive.factor),
        fmt::format("the nearest legal value is {}", std::gcd(steps->multiple, std::max(1, directive.factor))));
  }
  const Loop before = *steps;
  *steps = UnrolledSteps(before, directive.factor).build();
  return put_together(nest, parts);
}

}  // namespace esc
