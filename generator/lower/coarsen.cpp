#include "generator/lower/coarsen.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/ir/rewrite.h"
#include "generator/lower/mapped_nest.h"
#include "generator/schedule/schedule.h"

namespace esc {
namespace {

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
    Loop over_columns = column_;
    over_columns.body = zero_sums();
    if (factor_ == 1) {
      over_columns.body.push_back(column_loop(0, Affine::of("count"), 1));
    } else {
      over_columns.body.push_back(column_loop(0, Affine::of("unrolled"), factor_));
      over_columns.body.push_back(column_loop(Affine::of("unrolled"), Affine::of("count"), 1));
    }
    append(over_columns.body, add_sums());

    Block body{define("count", ColumnCount{columns_.set})};
    if (factor_ > 1) {
      body.push_back(define("unrolled", Operation{Operator::subtract, {index("count"), remainder(index("count"), factor_)}}));
    }
    body.push_back(Node{std::move(over_columns)});
    return body;
  }

 private:
  static void append(Block& block, Block more) {
    block.insert(block.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }

  static const Update& update_of(const Statement& statement) { return std::get<Update>(statement.action); }
  static const Access& target_of(const Statement& statement) { return *update_of(statement).target.access(); }

  std::int64_t tile(const Access& access) const {
    return access.subscripts[1].affine.constant() / warp_size;
  }
  std::string sum_name(const Statement& statement) const {
    const Access& target = target_of(statement);
    return fmt::format("c{}_{}", target.subscripts[0].affine.constant(), tile(target));
  }

  Block zero_sums() const {
    Block block;
    for (const Statement& statement : updates_) {
      block.push_back(define(sum_name(statement), 0.0, element_));
    }
    return block;
  }

  /// A set without columns adds nothing: its pattern may name rows that the last panel does not have.
  Block add_sums() const {
    Block block;
    for (const Statement& statement : updates_) {
      Guard guard{has_columns()};
      guard.insert(guard.end(), statement.guard.begin(), statement.guard.end());
      block.push_back(Node{Statement{std::move(guard), Update{target_of(statement), Name{sum_name(statement)}, true}}});
    }
    return block;
  }

  Node column_loop(const Affine& lower, const Affine& upper, std::int64_t step) const {
    Loop loop{"c", lower, upper, step, Role::reduction, Mapping::sequential, {}};
    for (std::int64_t u = 0; u < step; ++u) {
      const std::string column = fmt::format("{}{}", columns_.iterator, u);
      loop.body.push_back(define(column, ColumnAt{columns_.set, Affine::of("c") + u}));
    }
    for (std::int64_t u = 0; u < step; ++u) {
      append(loop.body, load_b(u));
    }
    for (std::int64_t u = 0; u < step; ++u) {
      append(loop.body, multiply(u));
    }
    return Node{std::move(loop)};
  }

  Statement at_column(const Statement& statement, std::int64_t u) const {
    return substitute(statement, columns_.iterator, Affine::of(fmt::format("{}{}", columns_.iterator, u)));
  }

  std::string b_name(const Access& dense, std::int64_t u) const { return fmt::format("b{}_{}", u, tile(dense)); }

  /// Each element of B once, however many rows of the pattern use it.
  Block load_b(std::int64_t u) const {
    Block block;
    std::int64_t last_tile = -1;
    for (const Statement& statement : updates_) {
      const Statement here = at_column(statement, u);
      const Access dense = *factors(update_of(here).value)[1].access();
      if (tile(dense) != last_tile) {
        last_tile = tile(dense);
        block.push_back(Node{Statement{here.guard, Define{element_, b_name(dense, u), dense}}});
      }
    }
    return block;
  }

  Block multiply(std::int64_t u) const {
    Block block;
    for (const Statement& statement : updates_) {
      const Statement here = at_column(statement, u);
      const std::vector<Expression> both = factors(update_of(here).value);
      block.push_back(Node{Statement{
          {}, Update{Name{sum_name(statement)}, product({both[0], Name{b_name(*both[1].access(), u)}})}}});
    }
    return block;
  }

  const Loop& column_;
  const ColumnLoop& columns_;
  std::int64_t factor_;
  ScalarType element_;
  std::vector<Statement> updates_;
};

const ColumnLoop* find_columns(const Loop& column) {
  return column.body.size() == 1 ? std::get_if<ColumnLoop>(&column.body.front().content) : nullptr;
}

}  // namespace

LoopNest coarsen(const LoopNest& nest, const Coarsen& directive) {
  if (directive.factor < 1 || directive.factor > AtomicSchedule::max_ufk) {
    throw ScheduleError(
        directive, fmt::format("UFk={} is outside 1 to {}", directive.factor, AtomicSchedule::max_ufk),
        fmt::format("the nearest legal value is {}", std::clamp(directive.factor, 1, AtomicSchedule::max_ufk)));
  }
  ThreadBody body = thread_body(nest, print(Directive(directive)));
  for (Case& one : body.choice.cases) {
    const Loop* column = find_loop(one.body, "j");
    const ColumnLoop* columns = column == nullptr ? nullptr : find_columns(*column);
    if (columns == nullptr || columns->iterator != directive.loop) {
      throw ScheduleError(directive, fmt::format("there is no loop over enumerated columns '{}'", directive.loop),
                          "coarsen the reduction loop once, after the columns are mapped to lanes");
    }
    one.body = CoarsenedBody(*column, *columns, directive.factor, nest.element()).build();
  }
  return with_thread_body(nest, body);
}

}  // namespace esc
