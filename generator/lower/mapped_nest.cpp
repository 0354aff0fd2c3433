#include "generator/lower/mapped_nest.h"

#include <utility>

#include "generator/schedule/directive.h"

namespace esc {
namespace {

/// The loop over lanes in a nest of mapped loops, or null.
template <typename BlockType>
auto* find_lanes(BlockType& block) {
  auto* current = &block;
  while (current->size() == 1) {
    auto* loop = std::get_if<Loop>(&current->front().content);
    if (loop == nullptr || loop->mapping == Mapping::sequential) {
      break;
    }
    if (loop->mapping == Mapping::lanes) {
      return loop;
    }
    current = &loop->body;
  }
  return static_cast<decltype(std::get_if<Loop>(&block.front().content))>(nullptr);
}

}  // namespace

Node define(const std::string& name, Expression value, ScalarType type) {
  return Node{Statement{{}, Define{type, name, std::move(value)}}};
}

Expression has_columns() { return less(0, index("count")); }

ThreadBody thread_body(const LoopNest& nest, const std::string& step) {
  const Loop* lanes = find_lanes(nest.body);
  if (lanes == nullptr || lanes->body.empty() || !std::holds_alternative<Switch>(lanes->body.back().content)) {
    throw ScheduleError(step, "the nest is not mapped to blocks and lanes", "map the row and column loops first");
  }
  return {Block(lanes->body.begin(), lanes->body.end() - 1), std::get<Switch>(lanes->body.back().content)};
}

LoopNest with_thread_body(const LoopNest& nest, const ThreadBody& body) {
  LoopNest result = nest;
  Loop* lanes = find_lanes(result.body);
  ESC_CHECK(lanes != nullptr, "a mapped nest");
  lanes->body = body.definitions;
  lanes->body.push_back(Node{body.choice});
  return result;
}

}  // namespace esc
