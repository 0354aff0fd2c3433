// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/nested_statement.h"

#include <algorithm>

#include "generator/ir/print.h"

namespace esc {
namespace {

void find_statements(const Block& block, const NestedStatement& around, std::vector<NestedStatement>& found) {
  for (std::size_t place = 0; place < block.size(); ++place) {
    NestedStatement here = around;
    here.path.push_back(place);
    if (const auto* loop = std::get_if<Loop>(&block[place].content)) {
      here.loops.push_back(loop);
      find_statements(loop->body, here, found);
      continue;
    }
    here.statement = std::get_if<Statement>(&block[place].content);
    ESC_CHECK(here.statement != nullptr && (here.action<Define>() != nullptr || here.action<Update>() != nullptr ||
                                            here.action<Store>() != nullptr),
              "a nest as written has loops, definitions, stores and updates");
    found.push_back(here);
  }
}

}  // namespace

NestPart NestedStatement::loop_part(std::size_t depth) const {
  return {{path.begin(), path.begin() + static_cast<std::ptrdiff_t>(depth) + 1}};
}

const Loop* NestedStatement::find_loop(const std::string& iterator) const {
  const auto found = std::ranges::find(loops, iterator, [](const Loop* loop) { return loop->iterator; });
  return found == loops.end() ? nullptr : *found;
}

Position position_of(const Access& element, const NestedStatement& statement) {
  Position position;
  for (const Subscript& subscript : element.subscripts) {
    const auto found = std::ranges::find_if(statement.loops,
                                            [&](const Loop* loop) { return subscript.affine.is_name(loop->iterator); });
    if (found == statement.loops.end()) {
      refuse(statement.part(NestPart::Element::target), "subscript {} of {}: {}", print(subscript.affine),
             element.array, expected_subscript);
    }
    position.push_back(*found);
  }
  return position;
}

Access element_at(const Position& position, const std::string& array) {
  Access element{array, {}};
  for (const Loop* loop : position) {
    element.subscripts.push_back({"", Affine::of(loop->iterator)});
  }
  return element;
}

std::vector<NestedStatement> find_statements(const LoopNest& nest) {
  std::vector<NestedStatement> found;
  find_statements(nest.body, {}, found);
  return found;
}

const Access* changed_element(const NestedStatement& statement) {
  if (const auto* store = statement.action<Store>()) {
    return &store->target;
  }
  const auto* update = statement.action<Update>();
  return update != nullptr ? update->target.access() : nullptr;
}

bool gathers(const NestedStatement& statement) {
  const auto* update = statement.action<Update>();
  if (update == nullptr) {
    return false;
  }
  const Access* target = update->target.access();
  return target == nullptr || std::ranges::any_of(statement.loops, [&](const Loop* loop) {
           return std::ranges::none_of(target->subscripts, [&](const Subscript& subscript) {
             return subscript.affine.mentions(loop->iterator);
           });
         });
}

}  // namespace esc
