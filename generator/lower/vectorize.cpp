#include "generator/lower/vectorize.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/ir/rewrite.h"
#include "generator/lower/mapped_nest.h"
#include "generator/lower/thread_nest.h"

namespace esc {
namespace {

ArrayRole role_of(const LoopNest& nest, const Access& access) { return nest.find_array(access.array)->role; }

/// The element that the loop over a lane's columns begins at.
Access first_of(const Access& access) {
  Access first = access;
  first.subscripts.back().affine = first.subscripts.back().affine.substitute("w", 0);
  return first;
}

/// How many columns there are from the one in which the access begins.
Expression columns_left(const Access& first) {
  const Expression column = first.subscripts.back().affine;
  return choose(less(column, index("N")), index("N") - column, 0);
}

Guard without_column_bound(Guard guard) {
  std::erase_if(guard, [](const Expression& condition) {
    const Operation* bound = condition.operation(Operator::less);
    return bound != nullptr && bound->operands.back() == index("N");
  });
  return guard;
}

class Widening {
 public:
  explicit Widening(const LoopNest& nest) : nest_(nest) {}

  Block widen(const Block& block) const {
    Block result;
    for (const Node& node : block) {
      result.push_back(widen(node));
    }
    return result;
  }

 private:
  Node widen(const Node& node) const {
    if (const auto* branch = std::get_if<Branch>(&node.content)) {
      if (is_delivery(*branch)) {
        return deliver(*branch);
      }
      return Node{Branch{branch->condition, widen(branch->then), widen(branch->otherwise)}};
    }
    const auto* loop = std::get_if<Loop>(&node.content);
    if (loop == nullptr) {
      return node;
    }
    if (loop->iterator == "w" && loop->role == Role::column) {
      return move_at_once(*loop);
    }
    Loop around = *loop;
    around.body = widen(loop->body);
    return Node{std::move(around)};
  }

  /// Sums that are added to C in one case and stored in the other.
  static bool is_delivery(const Branch& branch) {
    const auto* added = branch.then.size() == 1 ? std::get_if<Loop>(&branch.then.front().content) : nullptr;
    return added != nullptr && added->iterator == "w" && branch.otherwise.size() == 1;
  }

  static Node deliver(const Branch& branch) {
    const auto& loop = std::get<Loop>(branch.otherwise.front().content);
    const auto& store = std::get<Store>(std::get<Statement>(loop.body.front().content).action);
    const Access to = first_of(store.target);
    return Node{Statement{{},
                          Perform{"deliver",
                                  {to, first_of(*store.value.access()), loop.upper, columns_left(to), branch.condition}}}};
  }

  Node move_at_once(const Loop& loop) const {
    const auto& statement = std::get<Statement>(loop.body.front().content);
    if (const auto* update = std::get_if<Update>(&statement.action)) {
      const Access& target = *update->target.access();
      if (role_of(nest_, target) == ArrayRole::output) {
        const Access to = first_of(target);
        return Node{Statement{without_column_bound(statement.guard),
                              Perform{"add_columns", {to, first_of(*update->value.access()), loop.upper, columns_left(to)}}}};
      }
      return Node{
          Statement{{}, Perform{"add_vector", {first_of(target), first_of(*update->value.access()), loop.upper}}}};
    }
    const auto& store = std::get<Store>(statement.action);
    const Access to = first_of(store.target);
    const Access from = first_of(*store.value.access());
    if (role_of(nest_, to) == ArrayRole::output) {
      return Node{Statement{without_column_bound(statement.guard),
                            Perform{"store_columns", {to, from, loop.upper, columns_left(to)}}}};
    }
    const char* const name = role_of(nest_, to) == ArrayRole::shared ? "store_vector" : "load_vector";
    return Node{Statement{{}, Perform{name, {to, from, loop.upper}}}};
  }

  const LoopNest& nest_;
};

/// The loop over columns of A, each of which brings its part of a row of B.
Loop load_parts(const LoopNest& nest, const Loop& dealt) {
  if (const auto* steps = std::get_if<Loop>(&dealt.body.front().content)) {
    Loop around = dealt;
    around.body = {Node{load_parts(nest, *steps)}};
    return around;
  }
  Statement statement = innermost(dealt);
  statement.guard = without_column_bound(statement.guard);
  auto& update = std::get<Update>(statement.action);
  std::vector<Expression> both = factors(update.value);
  const Access dense = *both.back().access();
  both.back() = Access{"part_of_b", {{"", Affine::of("v")}}};
  update.value = product(both);
  Loop result = with_innermost(dealt, {Node{std::move(statement)}});
  const Access row{nest.array(ArrayRole::dense).name, {dense.subscripts.front()}};
  result.body.insert(result.body.end() - 1,
                     {Node{Declare{"part_of_b"}},
                      Node{Statement{{}, Perform{"load_part", {Access{"part_of_b", {}}, row, Access{"columns", {}}}}}}});
  return result;
}

}  // namespace

LoopNest vectorize(const LoopNest& nest, const Vectorize& directive) {
  ThreadNest parts = take_apart(nest, directive);
  if (nest.vectors) {
    throw ScheduleError(directive, "the columns of a lane are already moved at once", "vectorize once");
  }
  const std::size_t place = find_place(parts.body, Role::reduction);
  if (nest.find_array("sums") == nullptr || place == parts.body.size()) {
    throw ScheduleError(directive, "the sums are not in registers", "accumulate the sums first");
  }
  const auto first_column = std::ranges::find_if(parts.body, [&](const Node& node) {
    const auto* statement = std::get_if<Statement>(&node.content);
    const auto* defined = statement == nullptr ? nullptr : std::get_if<Define>(&statement->action);
    return defined != nullptr && defined->name == directive.loop && defined->value == first_column_of_lane();
  });
  if (first_column == parts.body.end()) {
    throw ScheduleError(directive, fmt::format("'{}' does not run over the columns of a lane", directive.loop),
                        "name the loop over columns of C, once it is mapped");
  }
  Block body = Widening(nest).widen(Block(parts.body.begin() + static_cast<std::ptrdiff_t>(place) + 1, parts.body.end()));
  parts.body[place] = Node{load_parts(nest, std::get<Loop>(parts.body[place].content))};
  parts.body.erase(parts.body.begin() + static_cast<std::ptrdiff_t>(place) + 1, parts.body.end());
  parts.body.insert(parts.body.end(), body.begin(), body.end());
  parts.body.insert(first_column + 1,
                    {Node{Declare{"columns"}},
                     Node{Statement{{}, Perform{"clamp_columns", {Access{"columns", {}}, index(directive.loop), index("N")}}}}});

  LoopNest result = put_together(nest, parts);
  result.vectors = true;
  result.arrays.push_back({"columns", {Affine::of("vector_width")}, ArrayRole::registers, ScalarType::u32});
  result.arrays.push_back({"part_of_b", {Affine::of("vector_width")}, ArrayRole::registers, nest.element(), "Part"});
  return result;
}

}  // namespace esc
