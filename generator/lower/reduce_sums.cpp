#include "generator/lower/reduce_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/ir/rewrite.h"
#include "generator/lower/mapped_nest.h"
#include "generator/lower/panel_nest.h"

namespace esc {
namespace {

/// How the sums of one panel are laid out: rows of the panel, columns of a lane and of its group.
struct SumShape {
  std::int64_t rows = 1;
  std::int64_t vector = 1;
  std::int64_t columns = 1;
};

/// An array in which the sums of several parts meet, and the loop over threads that each of its readers goes through.
struct MeetingPlace {
  std::string array;
  ArrayRole role = ArrayRole::shared;
  std::string parts;  ///< iterator of that loop
};

/// A statement of the panel's body that adds to an element of C.
struct Sum {
  Guard guard;
  Access element;
};

class Reduction {
 public:
  Reduction(PanelNest parts, const Loop& dealt) : parts_(std::move(parts)) {
    for (const Node& node : dealt.body) {
      const auto& statement = std::get<Statement>(node.content);
      if (const auto* update = std::get_if<Update>(&statement.action)) {
        sums_.push_back({statement.guard, std::get<Access>(update->target)});
      }
    }
    const Access& last = sums_.back().element;
    shape_.rows = last.subscripts[0].affine.constant() + 1;
    shape_.vector = last.subscripts[1].affine.constant() + 1;
    shape_.columns = shape_.vector * extent(parts_.phases.front().threads, "lane");
    for (const MeetingPlace& place : {MeetingPlace{"lane_sums", ArrayRole::registers, "group"},
                                      MeetingPlace{"warp_sums", ArrayRole::shared, "warp"}}) {
      if (find_thread(parts_.phases.front().threads, place.parts) != nullptr) {
        places_.push_back(place);
      }
    }
  }

  LoopNest apply(const LoopNest& nest) {
    const Phase adding = parts_.phases.front();
    parts_.phases = {add_in_scalars(adding)};
    LoopNest result = nest;
    std::vector<Loop> threads = adding.threads;
    for (std::size_t at = 0; at < places_.size(); ++at) {
      result.arrays.push_back(declare(places_[at], threads));
      parts_.phases.push_back(add_over_parts(at, threads, adding.body));
      std::erase_if(threads, [&](const Loop& loop) { return loop.iterator == places_[at].parts; });
    }
    return put_together(result, parts_);
  }

 private:
  /// The element of a meeting place for a row of the panel and a column of the lane, in these threads.
  Access element(const MeetingPlace& place, const std::vector<Loop>& threads, const Affine& row,
                 const Affine& column) const {
    Access access{place.array, {}};
    for (const Loop& loop : threads) {
      if (loop.role != Role::column) {
        access.subscripts.push_back({"", Affine::of(loop.iterator)});
      }
    }
    access.subscripts.push_back({"", row});
    access.subscripts.push_back({"", digit(threads, "lane") * shape_.vector + column});
    return access;
  }

  ArrayDeclaration declare(const MeetingPlace& place, const std::vector<Loop>& threads) const {
    ArrayDeclaration array{place.array, {}, place.role};
    for (const Loop& loop : threads) {
      if (loop.role != Role::column) {
        array.extents.push_back(loop.upper);
      }
    }
    array.extents.emplace_back(shape_.rows);
    array.extents.emplace_back(shape_.columns);
    return array;
  }

  /// Every part in scalars, one per element of C, with what it does with them then.
  Phase add_in_scalars(const Phase& adding) const {
    Block zeros;
    Block outputs;
    for (const Sum& sum : sums_) {
      const std::string name = sum_name(sum.element);
      zeros.push_back(Node{Statement{{}, DefineElement{name, 0.0}}});
      if (places_.empty()) {
        outputs.push_back(Node{Statement{sum.guard, Store{sum.element, name}}});
      } else {
        const Access target = element(places_.front(), adding.threads, sum.element.subscripts[0].affine.constant(),
                                      sum.element.subscripts[1].affine.constant());
        outputs.push_back(Node{Statement{{}, Store{target, name}}});
      }
    }
    const auto count = std::ranges::find_if(adding.body, [](const Node& node) {
      const auto* statement = std::get_if<Statement>(&node.content);
      return statement != nullptr &&
             std::holds_alternative<ColumnCount>(std::get<DefineIndex>(statement->action).value);
    });
    Phase phase{adding.threads, Block(adding.body.begin(), count)};
    phase.body.insert(phase.body.end(), zeros.begin(), zeros.end());
    phase.body.insert(phase.body.end(), count, adding.body.end());
    phase.body.insert(phase.body.end(), outputs.begin(), outputs.end());
    for (Node& node : find_loop_over(phase.body, Role::reduction)->body) {
      auto& statement = std::get<Statement>(node.content);
      if (auto* update = std::get_if<Update>(&statement.action)) {
        *update = {sum_name(std::get<Access>(update->target)), update->factors, false};
      }
    }
    return phase;
  }

  /// The sums that meet in place `at`, written by `threads`, are added and handed on to the next one or to C.
  Phase add_over_parts(std::size_t at, std::vector<Loop> threads, const Block& body) const {
    const Loop over = *find_thread(threads, places_[at].parts);
    const Access part = element(places_[at], threads, Affine::of("u"), Affine::of("v"));
    std::erase_if(threads, [&](const Loop& loop) { return loop.iterator == over.iterator; });

    const Loop parts{over.iterator,
                     over.lower,
                     over.upper,
                     1,
                     Role::reduction,
                     Mapping::sequential,
                     {Node{Statement{{}, Update{"sum", {part}, false}}}}};
    Block each{Node{Statement{{}, DefineElement{"sum", 0.0}}}, Node{parts}};
    Phase phase{threads, {}};
    if (at + 1 < places_.size()) {
      const Access target = element(places_[at + 1], threads, Affine::of("u"), Affine::of("v"));
      each.push_back(Node{Statement{{}, Store{target, "sum"}}});
    } else {
      const Sum& first = sums_.front();
      each.push_back(Node{rewrite(Statement{first.guard, Store{first.element, "sum"}}, move_to_u_v())});
      phase.body = {body[0], body[1]};  // where the panel and the lane's columns begin
    }
    const Block over_rows = loop_over("u", shape_.rows, Role::row, loop_over("v", shape_.vector, Role::column, each));
    phase.body.insert(phase.body.end(), over_rows.begin(), over_rows.end());
    return phase;
  }

  /// The first row and column of a lane -> row u and column v of it.
  static Rewrite move_to_u_v() {
    return {.affine =
                [](const Affine& affine) {
                  return affine.substitute("i", Affine::of("i") + Affine::of("u"))
                      .substitute("j", Affine::of("j") + Affine::of("v"));
                },
            .access = {},
            .operand = {},
            .definition = {}};
  }

  PanelNest parts_;
  SumShape shape_;
  std::vector<Sum> sums_;
  std::vector<MeetingPlace> places_;
};

}  // namespace

LoopNest reduce_sums(const LoopNest& nest, const ReduceSums& directive) {
  PanelNest parts = take_apart(nest, directive);
  const Loop* dealt = find_loop_over(parts.phases.front().body, Role::reduction);
  if (!parts.tiles || dealt == nullptr) {
    throw ScheduleError(directive, "the columns of the panels are not split", "split the reduction loop first");
  }
  if (!std::holds_alternative<Access>(update_of(dealt->body.back()).target)) {
    throw ScheduleError(directive, "the sums are already reduced", "reduce once");
  }
  const Loop loop = *dealt;
  return Reduction(std::move(parts), loop).apply(nest);
}

}  // namespace esc
