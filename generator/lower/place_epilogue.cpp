// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/place_epilogue.h"

#include <algorithm>
#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/early_operands.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"

namespace esc {
namespace {

/// The epilogue of one element of C, whose sum is in a register; operands that were read early are in others.
Block finish(const LoopNest& nest, const EarlyOperands& early, const StorePlace& place, const Access& sum) {
  const Epilogue& epilogue = *nest.epilogue;
  const Rewrite placed{
      .affine =
          [&](const Affine& affine) {
            return affine.substitute(epilogue.subscripts.at(0), place.element.subscripts.at(0).affine)
                .substitute(epilogue.subscripts.at(1), place.element.subscripts.at(1).affine + Affine::of("w"));
          },
      .access =
          [&](const Access& access) {
            return early.arrays().contains(access.array) ? early.register_of(access.array, place) : access;
          }};
  Block result{define(epilogue.sum, sum, nest.sum())};
  for (const Define& step : epilogue.steps) {
    result.push_back(define(step.name, rewrite(step.value, placed), step.type));
  }
  result.push_back(statement(Store{sum, rewrite(epilogue.value, placed)}));
  return result;
}

/// Whether the sum stays what it is, and its store rounds it.
bool is_rounding(const Epilogue& epilogue) {
  return epilogue.steps.empty() && epilogue.value == Expression(Name{epilogue.sum});
}

constexpr const char* added_up = "parts of a sum are added up in C: nobody has the whole of it";
constexpr const char* own_rows =
    "choose a schedule whose threads own their rows, of family panel or rows: accumulate() and shuffle() the sums";

/// Whether anything is added to elements of C.
bool adds_to_output(const LoopNest& nest) {
  bool adds = false;
  change_updates(nest.body, [&](Guard&, Update& update) {
    const Access* target = update.target.access();
    adds = adds || (target != nullptr && target->array == nest.array(ArrayRole::output).name);
  });
  return adds;
}

/// Whether the epilogue of an element that does not exist reads nothing that is not there.
bool reads_registers_only(const LoopNest& nest, const EarlyOperands& early) {
  const auto has_table =
      std::ranges::any_of(nest.arrays, [](const ArrayDeclaration& array) { return array.role == ArrayRole::table; });
  return !has_table && std::ranges::all_of(operands_of(nest), [&](const ArrayDeclaration& operand) {
    return operand.extents.empty() || early.arrays().contains(operand.name);
  });
}

/// Finishes the sums before each store of some.
class Placing {
 public:
  Placing(const LoopNest& nest, const EarlyOperands& early, const PlaceEpilogue& directive)
      : nest_(nest), early_(early), directive_(directive) {}

  Block place(const Block& block, const std::vector<Loop>& around) {
    Block result;
    for (const Node& node : block) {
      if (const auto* statement = std::get_if<Statement>(&node.content)) {
        append(result, place(*statement, around));
      } else if (const auto* loop = std::get_if<Loop>(&node.content)) {
        Loop copy = *loop;
        copy.body.clear();
        std::vector<Loop> inside = around;
        if (!is_mapped(loop->mapping)) {
          inside.push_back(copy);
        }
        copy.body = place(loop->body, inside);
        result.push_back(Node{std::move(copy)});
      } else if (const auto* branch = std::get_if<Branch>(&node.content)) {
        result.push_back(
            Node{Branch{branch->condition, place(branch->then, around), place(branch->otherwise, around)}});
      } else {
        result.push_back(node);
      }
    }
    return result;
  }

  int placed() const { return placed_; }
  bool takes_whole_rows() const { return takes_whole_rows_; }

 private:
  Block place(Statement statement, const std::vector<Loop>& around) {
    const auto place = store_place(nest_, statement, around);
    if (!place) {
      return {Node{std::move(statement)}};
    }
    auto& perform = std::get<Perform>(statement.action);
    refuse_if(perform.instruction == "add_columns", directive_, added_up, own_rows);
    if (perform.instruction == "epilogue_store") {
      // What others have a part of is added to; now nobody has.
      perform = {"store_columns", {perform.arguments.begin(), perform.arguments.end() - 1}};
      takes_whole_rows_ = true;
    }
    ESC_CHECK(perform.instruction == "store_columns", "sums are stored by one instruction");
    ++placed_;
    Block block;
    if (!is_rounding(*nest_.epilogue)) {
      block.push_back(finish_all(*place, *perform.arguments.at(1).access()));
    }
    block.push_back(Node{std::move(statement)});
    return block;
  }

  /// The consecutive sums that a store takes, each finished; where that reads memory, as far as there are columns. A
  /// condition would cost more than what it spares: the store has one of its own.
  Node finish_all(const StorePlace& place, Access sum) const {
    sum.subscripts.back().affine = sum.subscripts.back().affine + Affine::of("w");
    if (reads_registers_only(nest_, early_)) {
      return Node{mapped_loop(Mapping::unrolled, "w", place.width, Role::column, finish(nest_, early_, place, sum))};
    }
    Guard inside = place.guard;
    inside.push_back(less(place.element.subscripts.at(1).affine + Affine::of("w"), index("N")));
    Branch branch{all_of(std::move(inside)), finish(nest_, early_, place, sum), {}};
    return Node{mapped_loop(Mapping::unrolled, "w", place.width, Role::column, {Node{std::move(branch)}})};
  }

  const LoopNest& nest_;
  const EarlyOperands& early_;
  const PlaceEpilogue& directive_;
  int placed_ = 0;
  bool takes_whole_rows_ = false;
};

/// Has the threads ask for their copies first. Otherwise the compiler moves up what the reads wait for, the number of a
/// row tile, and the copies wait for that as well.
void keep_behind_copies(Block& body) {
  const auto copies = std::ranges::find_if(body, [](const Node& node) {
    const auto* perform = action<Perform>(node);
    return perform != nullptr && perform->instruction == "stage_packets";
  });
  if (copies != body.end()) {
    insert(body, static_cast<std::size_t>(copies - body.begin()) + 1,
           {Node{Note{"The copies are issued before anything waits."}}, Node{Barrier{Scope::warp}}});
  }
}

/// Reads the operands before the main loop, or of the wait for the copies that it takes.
void read_early(const EarlyOperands& early, Block& body) {
  const std::size_t loop = find_place(body, Role::reduction);
  const Block storing(body.begin() + static_cast<std::ptrdiff_t>(std::min(loop + 1, body.size())), body.end());
  Block reads;
  for (const auto& [name, registers] : early.arrays()) {
    reads.push_back(Node{Declare{registers.name, true}});
  }
  append(reads, early.reads(storing));
  const auto copies = std::ranges::find(body, perform("wait_for_copies", {})) - body.begin();
  insert(body, std::min(loop, static_cast<std::size_t>(copies)), reads);
  keep_behind_copies(body);
}

}  // namespace

LoopNest place_epilogue(const LoopNest& nest, const PlaceEpilogue& directive) {
  refuse_if(!nest.epilogue, directive, "the nest does nothing with its sums but store them, or it is placed already",
            "leave epilogue() out");
  const bool in_registers = nest.find_array("sums") != nullptr;
  refuse_if(!in_registers && adds_to_output(nest), directive, added_up, own_rows);
  const EarlyOperands early(nest);
  Placing placing(nest, early, directive);
  LoopNest result = nest;
  result.body = placing.place(nest.body, {});
  refuse_if(placing.placed() == 0, directive, "the sums are not stored in vectors yet",
            "vectorize the columns of C first: vectorize(j), or fragment(j, 8) of streamed rows");
  if (!early.empty()) {
    ThreadNest parts = take_apart(result, directive);
    read_early(early, parts.body);
    result.body = put_together(result, parts).body;
    for (const auto& [name, registers] : early.arrays()) {
      result.arrays.push_back(registers);
    }
  }
  result.epilogue.reset();
  if (placing.takes_whole_rows()) {
    result.whole_rows = true;
    result.before.clear();
  }
  result.description.emplace_back(is_rounding(*nest.epilogue)
                                      ? "Sums are float32 and are rounded once, when they are complete and stored."
                                      : "The epilogue is computed in registers when a sum is complete, right before it "
                                        "is stored. What it reads beside the sum is loaded before the main loop.");
  return result;
}

}  // namespace esc
