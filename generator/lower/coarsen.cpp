// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/coarsen.h"

#include <fmt/format.h>

#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/schedule.h"

namespace esc {
namespace {

std::int64_t tile(const Access& access) { return access.subscripts[1].affine.constant() / warp_size; }

/// The updates of one thread and column, with the scalars that stand for its elements of C and B.
class CoarsenedBody {
 public:
  CoarsenedBody(const Loop& column, const ColumnLoop& columns, std::int64_t factor, ScalarType element)
      : column_(column), columns_(columns), factor_(factor), element_(element) {
    for (const Node& node : columns.body) {
      updates_.push_back(std::get<Statement>(node.content));
    }
  }

  Block build() const {
    Block body{define("count", ColumnCount{columns_.set})};
    Loop over_columns = column_;
    over_columns.body = zero_sums();
    if (factor_ > 1) {
      body.push_back(
          define("unrolled", Operation{Operator::subtract, {index("count"), remainder(index("count"), factor_)}}));
      over_columns.body.push_back(column_loop(0, Affine::of("unrolled"), factor_));
    }
    over_columns.body.push_back(column_loop(factor_ > 1 ? Affine::of("unrolled") : Affine(0), Affine::of("count"), 1));
    append(over_columns.body, add_sums());
    body.push_back(Node{std::move(over_columns)});
    return body;
  }

 private:
  static const Update& update_of(const Statement& statement) { return std::get<Update>(statement.action); }

  static std::string sum_name(const Statement& statement) {
    const Access& target = *update_of(statement).target.access();
    return fmt::format("c{}_{}", target.subscripts[0].affine.constant(), tile(target));
  }

  Block zero_sums() const {
    Block block;
    for (const Statement& statement : updates_) {
      block.push_back(define(sum_name(statement), 0.0, element_));
    }
    return block;
  }

  /// A set without columns adds nothing: its pattern may name rows that the last row tile does not have.
  Block add_sums() const {
    Block block;
    for (const Statement& statement : updates_) {
      Guard guard{has_columns()};
      guard.insert(guard.end(), statement.guard.begin(), statement.guard.end());
      block.push_back(
          Node{Statement{std::move(guard), Update{update_of(statement).target, Name{sum_name(statement)}, true}}});
    }
    return block;
  }

  std::string column_name(std::int64_t u) const { return fmt::format("{}{}", columns_.iterator, u); }

  Node column_loop(const Affine& lower, const Affine& upper, std::int64_t step) const {
    Block body;
    Block sums;
    for (std::int64_t u = 0; u < step; ++u) {
      body.push_back(define(column_name(u), ColumnAt{columns_.set, Affine::of("c") + u}));
    }
    for (std::int64_t u = 0; u < step; ++u) {
      multiply(u, body, sums);
    }
    append(body, sums);
    return sequential_loop("c", lower, upper, step, Role::reduction, std::move(body));
  }

  /// Loads each element of B once, however many rows of the pattern use it.
  void multiply(std::int64_t u, Block& loads, Block& sums) const {
    std::string loaded;
    for (const Statement& statement : updates_) {
      const Statement here = substitute(statement, columns_.iterator, Affine::of(column_name(u)));
      const Expression& both = update_of(here).value;
      const Access dense = *factors(both)[1].access();
      const std::string name = fmt::format("b{}_{}", u, tile(dense));
      if (name != loaded) {
        loads.push_back(Node{Statement{here.guard, Define{element_, name, dense}}});
      }
      loaded = name;
      sums.push_back(esc::statement(Update{Name{sum_name(statement)}, with_factor(both, 1, Name{name})}));
    }
  }

  const Loop& column_;
  const ColumnLoop& columns_;
  std::int64_t factor_;
  ScalarType element_;
  std::vector<Statement> updates_;
};

}  // namespace

LoopNest coarsen(const LoopNest& nest, const Coarsen& directive) {
  check_between(directive, "UFk", directive.factor, AtomicSchedule::max_ufk);
  ThreadNest parts = take_apart_cases(nest, directive);
  for (Case& one : std::get<Switch>(parts.body.back().content).cases) {
    const Loop* column = find_loop(one.body, "j");
    const auto* columns = only<ColumnLoop>(column);
    refuse_if(columns == nullptr || columns->iterator != directive.loop, directive,
              fmt::format("there is no loop over enumerated columns '{}'", directive.loop),
              "coarsen the reduction loop once, after the columns are mapped to lanes");
    one.body = CoarsenedBody(*column, *columns, directive.factor, nest.element()).build();
  }
  return put_together(nest, parts);
}

}  // namespace esc
