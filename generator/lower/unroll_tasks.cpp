#include "generator/lower/unroll_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/ir/rewrite.h"
#include "generator/lower/mapped_nest.h"
#include "generator/lower/panel_nest.h"
#include "generator/schedule/rows_schedule.h"

namespace esc {
namespace {

/// The non-zeros of one iteration: places, columns, values, loads, products.
class UnrolledPairs {
 public:
  UnrolledPairs(const Loop& pairs, std::int64_t factor) : pairs_(pairs), factor_(factor) {}

  Loop build() const {
    Loop unrolled = pairs_;
    unrolled.step = pairs_.step * factor_;
    unrolled.body.clear();
    for (const auto part : {&UnrolledPairs::place, &UnrolledPairs::column, &UnrolledPairs::value, &UnrolledPairs::loads,
                            &UnrolledPairs::products}) {
      for (std::int64_t u = 0; u < factor_; ++u) {
        const Block block = (this->*part)(u);
        unrolled.body.insert(unrolled.body.end(), block.begin(), block.end());
      }
    }
    return unrolled;
  }

 private:
  Affine at(std::int64_t u) const { return Affine::of(pairs_.iterator) + u * pairs_.step; }

  const DefineIndex& column_definition() const {
    return std::get<DefineIndex>(std::get<Statement>(pairs_.body.front().content).action);
  }
  std::string column_name(std::int64_t u) const { return fmt::format("{}{}", column_definition().name, u); }
  static std::string place_name(std::int64_t u) { return fmt::format("place{}", u); }
  static std::string value_name(std::int64_t u) { return fmt::format("a{}", u); }
  static std::string element_name(const Update& update, std::int64_t u) {
    return fmt::format("b{}_{}", u, std::get<Access>(update.factors[1]).subscripts[1].affine.constant());
  }

  /// The updates, with the columns of pair u.
  Block updates(std::int64_t u) const {
    const Block renamed = substitute(pairs_.body, column_definition().name, Affine::of(column_name(u)));
    return {renamed.begin() + 1, renamed.end()};
  }

  /// The first one is inside the task, or there would be no iteration.
  Block place(std::int64_t u) const {
    return u == 0 ? Block{} : Block{define(place_name(u), Minimum{at(u), Affine::of("length") - 1})};
  }
  Block column(std::int64_t u) const {
    Access access = std::get<Access>(column_definition().value);
    access.subscripts[0].affine = u == 0 ? at(0) : Affine::of(place_name(u));
    return {define(column_name(u), access)};
  }
  Block value(std::int64_t u) const {
    Access access = std::get<Access>(update_of(pairs_.body.back()).factors.front());
    access.subscripts[0].affine = at(u);
    const Guard inside = u == 0 ? Guard{} : Guard{Less{at(u), Affine::of("length")}};
    return {Node{Statement{inside, DefineElement{value_name(u), access}}}};
  }
  Block loads(std::int64_t u) const {
    Block block;
    for (const Node& node : updates(u)) {
      const Update& update = update_of(node);
      block.push_back(Node{Statement{std::get<Statement>(node.content).guard,
                                     DefineElement{element_name(update, u), update.factors[1]}}});
    }
    return block;
  }
  Block products(std::int64_t u) const {
    Block block;
    for (const Node& node : updates(u)) {
      Update update = update_of(node);
      update.factors = {value_name(u), element_name(update, u)};
      block.push_back(Node{Statement{{}, std::move(update)}});
    }
    return block;
  }

  const Loop& pairs_;
  std::int64_t factor_;
};

}  // namespace

LoopNest unroll_tasks(const LoopNest& nest, const Unroll& directive) {
  if (directive.factor < 1 || directive.factor > RowsSchedule::max_unroll) {
    throw ScheduleError(
        directive,
        fmt::format("{} non-zeros at a time are outside 1 to {}", directive.factor, RowsSchedule::max_unroll),
        fmt::format("the nearest legal value is {}", std::clamp(directive.factor, 1, RowsSchedule::max_unroll)));
  }
  return change_grids(nest, directive, [&](PanelNest& parts) {
    Loop* pairs = find_loop_over(parts.phases.front().body, Role::reduction);
    if (pairs == nullptr || find_definition(pairs->body, directive.loop) == nullptr) {
      throw ScheduleError(directive, fmt::format("there is no loop over the non-zeros '{}' to unroll", directive.loop),
                          "unroll the reduction loop, once");
    }
    if (!std::holds_alternative<std::string>(update_of(pairs->body.back()).target)) {
      throw ScheduleError(directive, "the sums are not reduced", "split the reduction loop and reduce its sums first");
    }
    const Loop before = *pairs;
    *pairs = UnrolledPairs(before, directive.factor).build();
  });
}

}  // namespace esc
