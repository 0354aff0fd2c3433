// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/early_operands.h"

#include <algorithm>
#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/ir/unused_definitions.h"

namespace esc {
namespace {

/// More of them would cost registers that the main loop needs.
constexpr std::int64_t most_registers = 8;

constexpr const char* first_kept = "early_first_sum";

/// Stores of a thread: those of the loop over elements of a block's C, or the lane's own sums.
std::int64_t stores_of(const LoopNest& nest, bool shares) {
  return shares ? nest.constant("stores") : nest.constant("lane_sums");
}

/// How many elements one iteration of the loop is further than the one before.
std::int64_t step_of(const LoopNest& nest, const Loop& loop, const Affine& width) {
  return loop.step == Affine(1) ? width.evaluate(constants_of(nest)) : 1;
}

/// Whether a statement only finds index variables, by a definition or by looking one up in the packed matrix.
bool finds(const Node& node) {
  const auto* perform = action<Perform>(node);
  return action<Define>(node) != nullptr || (perform != nullptr && !looked_up_by(*perform).empty());
}

}  // namespace

std::optional<StorePlace> store_place(const LoopNest& nest, const Statement& statement, std::vector<Loop> around) {
  const auto* perform = std::get_if<Perform>(&statement.action);
  const Access* element =
      perform == nullptr || perform->arguments.empty() ? nullptr : perform->arguments.front().access();
  if (element == nullptr || element->array != nest.array(ArrayRole::output).name) {
    return std::nullopt;
  }
  return StorePlace{*element, *perform->arguments.at(2).affine(), statement.guard, std::move(around)};
}

EarlyOperands::EarlyOperands(const LoopNest& nest) : nest_(nest) {
  if (nest.find_array("sums") == nullptr) {
    return;
  }
  const bool shares = nest.find_array("shared_sums") != nullptr;
  for (const ArrayDeclaration& operand : operands_of(nest)) {
    if (operand.extents.empty()) {
      continue;
    }
    const bool each_column = goes_over_columns(nest, operand);
    const std::int64_t width = shares && each_column ? nest.constant("output_width") : 1;
    const std::int64_t count = stores_of(nest, shares) * width;
    if (each_column && count > most_registers) {
      continue;
    }
    arrays_[operand.name] = {"early_" + operand.name, {Affine(count)}, ArrayRole::registers, operand.type};
  }
}

Access EarlyOperands::register_of(const std::string& operand, const StorePlace& place) const {
  const bool each_column = goes_over_columns(nest_, *nest_.find_array(operand));
  Affine at = each_column ? Affine::of("w") : Affine(0);
  for (const Loop& loop : place.loops) {
    at = at + Affine::of(loop.iterator, each_column ? step_of(nest_, loop, place.width) : 1);
  }
  return element(arrays_.at(operand).name, {at});
}

Block EarlyOperands::reads_at(const StorePlace& place) const {
  const Affine row = place.element.subscripts.at(0).affine;
  const Affine column = place.element.subscripts.at(1).affine + Affine::of("w");
  Block result;
  for (const auto& [name, registers] : arrays_) {
    const ArrayDeclaration& operand = *nest_.find_array(name);
    const bool each_column = goes_over_columns(nest_, operand);
    std::vector<Affine> subscripts;
    if (operand.extents.size() == 2 || !each_column) {
      subscripts.push_back(row);
    }
    if (each_column) {
      subscripts.push_back(column);
    }
    Guard guard = place.guard;
    if (each_column) {
      guard.push_back(less(column, index("N")));
    }
    Node read{Statement{std::move(guard), Store{register_of(name, place), element(name, subscripts)}}};
    result.push_back(each_column
                         ? Node{mapped_loop(Mapping::unrolled, "w", place.width, Role::column, {std::move(read)})}
                         : std::move(read));
  }
  return result;
}

Block EarlyOperands::reads(const Block& storing) const { return reads(storing, {}); }

Block EarlyOperands::reads(const Block& storing, const std::vector<Loop>& around) const {
  Block result;
  for (std::size_t at = 0; at < storing.size(); ++at) {
    const Node& node = storing[at];
    if (const auto* statement = std::get_if<Statement>(&node.content)) {
      const auto* perform = std::get_if<Perform>(&statement->action);
      if (finds(node)) {
        result.push_back(node);
      } else if (perform != nullptr && perform->instruction == "add_groups") {
        // Which sums a lane group will keep, before it has them.
        result.push_back(define(first_kept, quotient(index("group"), index("copies")) * index("kept_sums")));
        const Block behind(storing.begin() + static_cast<std::ptrdiff_t>(at) + 1, storing.end());
        append(result, reads(substitute(behind, perform->results.front(), Affine::of(first_kept)), around));
        break;
      } else if (const auto place = store_place(nest_, *statement, around)) {
        append(result, reads_at(*place));
      }
    } else if (const auto* loop = std::get_if<Loop>(&node.content)) {
      std::vector<Loop> inside = around;
      inside.push_back(*loop);
      inside.back().body.clear();
      Loop copy = *loop;
      copy.body = reads(loop->body, inside);
      if (!copy.body.empty()) {
        result.push_back(Node{std::move(copy)});
      }
    } else if (const auto* branch = std::get_if<Branch>(&node.content)) {
      Branch copy{branch->condition, reads(branch->then, around), reads(branch->otherwise, around)};
      if (!copy.then.empty() || !copy.otherwise.empty()) {
        result.push_back(Node{std::move(copy)});
      }
    }
  }
  result = without_unused_definitions(result);
  return std::ranges::all_of(result, finds) ? Block() : result;
}

}  // namespace esc
