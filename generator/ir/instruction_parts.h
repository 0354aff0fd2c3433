// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/ir/build.h"
#include "generator/ir/instruction_form.h"

namespace esc::instruction_parts {

// What instructions and their meanings are written with.

using Passing = Instruction::Passing;

inline Affine name(const std::string& variable) { return Affine::of(variable); }
inline Expression times(const std::string& left, const std::string& right) { return index(left) * index(right); }
inline Access at(const std::string& array, const std::vector<Affine>& places) {
  Access access{array, {}};
  for (const Affine& place : places) {
    access.subscripts.push_back({"", place});
  }
  return access;
}
inline Node store(const Access& target, Expression value, Guard guard = {}) {
  return Node{Statement{std::move(guard), Store{target, std::move(value)}}};
}
inline Node add(const Access& target, Expression value, Guard guard = {}, bool atomic = false) {
  return Node{Statement{std::move(guard), Update{target, std::move(value), atomic}}};
}
inline Node loop(const std::string& iterator, const Affine& extent, Block body) {
  return Node{Loop{iterator, 0, extent, 1, Role::none, Mapping::sequential, std::move(body)}};
}
/// An iteration of each lane, as many times as there are such for all of them.
inline Node loop_of_lanes(const std::string& iterator, const Affine& extent, Block body) {
  return Node{Loop{iterator, Affine::of("lane"), extent, 32, Role::none, Mapping::sequential, std::move(body)}};
}
inline Instruction::Parameter value(const std::string& parameter) { return {parameter}; }
inline Instruction::Parameter array(const std::string& parameter) { return {parameter, Passing::array}; }
inline Instruction::Parameter pointer(const std::string& parameter) { return {parameter, Passing::pointer}; }

/// What orders memory and means nothing for the values.
inline Instruction ordering(const std::string& name_of, const std::string& call, std::vector<std::string_view> texts,
                            std::vector<Instruction::Parameter> parameters = {}) {
  return {.name = name_of, .parameters = std::move(parameters), .call = call, .texts = std::move(texts)};
}

}  // namespace esc::instruction_parts
