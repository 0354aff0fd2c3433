#include "generator/lower/sum_tasks.h"

#include <algorithm>
#include <utility>

#include "generator/ir/rewrite.h"
#include "generator/lower/panel_nest.h"

namespace esc {
namespace {

/// A statement of a task that adds to an element of C.
struct Sum {
  Guard guard;
  Access element;
};

/// The sum goes to C: added where the row has other tasks, else stored by whoever has a task.
Block deliver(const Sum& sum, const Operand& value, const Condition& present) {
  Guard shared = sum.guard;
  shared.insert(shared.begin(), Less{0, Affine::of("split")});
  Guard whole = sum.guard;
  whole.insert(whole.begin(), {present, Less{Affine::of("split"), 1}});
  return {Node{Statement{shared, Update{sum.element, {value}, true}}},
          Node{Statement{whole, Store{sum.element, value}}}};
}

class TaskReduction {
 public:
  /// Takes the sums out of the loop over the non-zeros, `phase`'s only loop.
  TaskReduction(LoopNest& nest, PanelNest& parts) : nest_(nest), parts_(parts), phase_(parts.phases.front()) {
    const auto length = std::ranges::find_if(phase_.body, [](const Node& node) {
      const auto& index = std::get<DefineIndex>(std::get<Statement>(node.content).action);
      return index.name == "length";
    });
    present_ = std::get<Statement>(length->content).guard.front();
    Loop* pairs = find_loop_over(phase_.body, Role::reduction);
    for (Node& node : pairs->body) {
      auto& statement = std::get<Statement>(node.content);
      if (auto* update = std::get_if<Update>(&statement.action)) {
        sums_.push_back({statement.guard, std::get<Access>(update->target)});
        *update = {sum_name(sums_.back().element), update->factors, false};
      }
    }
  }

  void apply() {
    Block zeros;
    for (const Sum& sum : sums_) {
      zeros.push_back(Node{Statement{{}, DefineElement{sum_name(sum.element), 0.0}}});
    }
    phase_.body.insert(phase_.body.end() - 1, zeros.begin(), zeros.end());
    const Loop* group = find_thread(phase_.threads, "group");
    if (group == nullptr || group->role != Role::reduction) {
      for (const Sum& sum : sums_) {
        append(phase_.body, deliver(sum, sum_name(sum.element), present_));
      }
      return;
    }
    Phase joining = joining_phase(*group);
    for (const Sum& sum : sums_) {
      const Affine column = sum.element.subscripts[1].affine.constant();
      phase_.body.push_back(Node{Statement{{}, Store{lane_sum(column), sum_name(sum.element)}}});
    }
    nest_.arrays.push_back({"lane_sums",
                            {extent(phase_.threads, "warp"), group->upper, extent(phase_.threads, "lane") * vector()},
                            ArrayRole::registers});
    parts_.phases.push_back(std::move(joining));
  }

 private:
  static void append(Block& block, const Block& more) { block.insert(block.end(), more.begin(), more.end()); }

  std::int64_t vector() const { return static_cast<std::int64_t>(sums_.size()); }

  Access lane_sum(const Affine& column) const {
    return {"lane_sums",
            {{"", digit(phase_.threads, "warp")},
             {"", Affine::of("group")},
             {"", digit(phase_.threads, "lane") * vector() + column}}};
  }

  /// What one lane group does behind the others: adds up what they found, and gives it to C.
  Phase joining_phase(const Loop& group) const {
    Phase phase = phase_;
    std::erase_if(phase.threads, [&](const Loop& loop) { return loop.iterator == group.iterator; });
    std::erase_if(phase.body, [](const Node& node) {
      const auto* statement = std::get_if<Statement>(&node.content);
      const auto* index = statement == nullptr ? nullptr : std::get_if<DefineIndex>(&statement->action);
      return index == nullptr || index->name == "first" || index->name == "length";
    });
    const Loop groups{group.iterator,
                      group.lower,
                      group.upper,
                      1,
                      Role::reduction,
                      Mapping::sequential,
                      {Node{Statement{{}, Update{"sum", {lane_sum(Affine::of("v"))}, false}}}}};
    Block each{Node{Statement{{}, DefineElement{"sum", 0.0}}}, Node{groups}};
    const Affine column = Affine::of("j") + Affine::of("v");
    append(each, substitute(deliver(sums_.front(), "sum", present_), "j", column));
    append(phase.body, loop_over("v", vector(), Role::column, each));
    return phase;
  }

  LoopNest& nest_;
  PanelNest& parts_;
  Phase& phase_;
  Condition present_;
  std::vector<Sum> sums_;
};

}  // namespace

LoopNest sum_tasks(const LoopNest& nest, const ReduceSums& directive) {
  LoopNest declared = nest;
  LoopNest result = change_grids(nest, directive, [&](PanelNest& parts) {
    Loop* pairs = find_loop_over(parts.phases.front().body, Role::reduction);
    if (!parts.tiles || pairs == nullptr) {
      throw ScheduleError(directive, "the columns of C are not mapped to the grid", "map the column loop first");
    }
    if (!std::holds_alternative<Access>(update_of(pairs->body.back()).target)) {
      throw ScheduleError(directive, "the sums are already reduced", "reduce once");
    }
    TaskReduction(declared, parts).apply();
  });
  result.arrays = declared.arrays;
  return result;
}

}  // namespace esc
