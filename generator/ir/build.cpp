// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/build.h"

#include <utility>

namespace esc {

Access element(const std::string& array, const std::vector<Affine>& subscripts) {
  Access result{array, {}};
  for (const Affine& subscript : subscripts) {
    result.subscripts.push_back({"", subscript});
  }
  return result;
}

Node statement(decltype(Statement::action) action) { return Node{Statement{{}, std::move(action)}}; }

Node define(const std::string& name, Expression value, ScalarType type) {
  return statement(Define{type, name, std::move(value)});
}

Node perform(const std::string& instruction, std::vector<Expression> arguments, std::vector<std::string> results) {
  return statement(Perform{instruction, std::move(arguments), std::move(results)});
}

Node sequential_loop(const std::string& iterator, const Affine& lower, const Affine& upper, const Affine& step,
                     Role role, Block body) {
  return Node{Loop{iterator, lower, upper, step, role, Mapping::sequential, std::move(body)}};
}

Loop mapped_loop(Mapping mapping, const std::string& iterator, const Affine& extent, Role role, Block body) {
  return {iterator, 0, extent, 1, role, mapping, std::move(body)};
}

Node unrolled_loop(const std::string& iterator, const std::string& extent, Role role, Block body) {
  return Node{mapped_loop(Mapping::unrolled, iterator, Affine::of(extent), role, std::move(body))};
}

Node unrolled(const std::string& iterator, int count, Block body) {
  return Node{mapped_loop(Mapping::unrolled, iterator, count, Role::none, std::move(body))};
}

Expression with_factor(const Expression& product, std::size_t place, const Expression& factor) {
  std::vector<Expression> all = factors(product);
  all.at(place) = factor;
  return esc::product(all);
}

void insert(Block& block, std::size_t at, const Block& more) {
  block.insert(block.begin() + static_cast<std::ptrdiff_t>(at), more.begin(), more.end());
}

void append(Block& block, const Block& more) { insert(block, block.size(), more); }

}  // namespace esc
