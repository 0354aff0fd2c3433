// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/loop_nest.h"

#include <algorithm>
#include <iterator>

#include "generator/ir/evaluate.h"
#include "generator/support/error.h"

namespace esc {

bool Loop::operator==(const Loop& other) const {
  return iterator == other.iterator && lower == other.lower && upper == other.upper && step == other.step &&
         role == other.role && mapping == other.mapping && body == other.body;
}

bool ColumnLoop::operator==(const ColumnLoop& other) const {
  return iterator == other.iterator && set == other.set && body == other.body;
}

bool Case::operator==(const Case& other) const { return label == other.label && body == other.body; }

bool Switch::operator==(const Switch& other) const { return subject == other.subject && cases == other.cases; }

bool Branch::operator==(const Branch& other) const {
  return condition == other.condition && then == other.then && otherwise == other.otherwise;
}

bool Node::operator==(const Node& other) const { return content == other.content; }

const ArrayDeclaration& LoopNest::array(ArrayRole role) const {
  const auto found = std::ranges::find(arrays, role, &ArrayDeclaration::role);
  ESC_CHECK(found != arrays.end(), "the nest has an array of the role asked for");
  return *found;
}

const ArrayDeclaration* LoopNest::find_array(const std::string& name) const {
  const auto found = std::ranges::find(arrays, name, &ArrayDeclaration::name);
  return found == arrays.end() ? nullptr : &*found;
}

std::int64_t LoopNest::constant(const std::string& name) const {
  const Environment values = constants_of(*this);
  const auto found = values.find(name);
  ESC_CHECK(found != values.end(), "the nest has the constant " + name);
  return found->second;
}

bool LoopNest::has_constant(const std::string& name) const {
  return std::ranges::any_of(constants, [&](const NamedConstant& constant) { return constant.name == name; });
}

std::vector<ArrayDeclaration> operands_of(const LoopNest& nest) {
  std::vector<ArrayDeclaration> operands;
  std::ranges::copy_if(nest.arrays, std::back_inserter(operands),
                       [](const ArrayDeclaration& array) { return array.role == ArrayRole::operand; });
  return operands;
}

bool goes_over_columns(const LoopNest& nest, const ArrayDeclaration& operand) {
  return !operand.extents.empty() && operand.extents.back() == nest.array(ArrayRole::output).extents.back();
}

LoopNest nest_of_epilogue(const LoopNest& nest) {
  ESC_CHECK(nest.epilogue.has_value(), "the nest has an epilogue");
  const Epilogue& epilogue = *nest.epilogue;
  const ArrayDeclaration& output = nest.array(ArrayRole::output);
  Access element{output.name, {}};
  for (const std::string& subscript : epilogue.subscripts) {
    element.subscripts.push_back({"", Affine::of(subscript)});
  }
  Block body{Node{Statement{{}, Define{sum_type(output.type), epilogue.sum, element}}}};
  for (const Define& step : epilogue.steps) {
    body.push_back(Node{Statement{{}, step}});
  }
  body.push_back(Node{Statement{{}, Store{element, epilogue.value}}});
  for (std::size_t dimension = epilogue.subscripts.size(); dimension-- > 0;) {
    Loop loop{epilogue.subscripts[dimension],
              0,
              output.extents.at(dimension),
              1,
              Role::none,
              Mapping::sequential,
              std::move(body)};
    body = {Node{std::move(loop)}};
  }
  LoopNest result;
  result.arrays = operands_of(nest);
  std::ranges::copy_if(nest.arrays, std::back_inserter(result.arrays),
                       [](const ArrayDeclaration& array) { return array.role == ArrayRole::table; });
  result.arrays.push_back(output);
  result.body = std::move(body);
  return result;
}

Environment constants_of(const LoopNest& nest) {
  Environment values;
  for (const NamedConstant& constant : nest.constants) {
    values[constant.name] = evaluate_index(constant.value, values);
  }
  return values;
}

LoopNest spmm_nest(ScalarType element_type) {
  const auto element = [](const std::string& array, const std::string& row, const std::string& column) {
    return Access{array, {{"", Affine::of(row)}, {"", Affine::of(column)}}};
  };
  const auto loop = [](const std::string& iterator, const std::string& size, Role role, Node body) {
    return Node{Loop{iterator, 0, Affine::of(size), 1, role, Mapping::sequential, {std::move(body)}}};
  };
  const Access a = element("A", "i", "k");
  const Node statement{
      Statement{{is_nonzero(a)}, Update{element("C", "i", "j"), product({a, element("B", "k", "j")})}}};

  LoopNest nest;
  nest.arrays = {{"A", {Affine::of("M"), Affine::of("K")}, ArrayRole::sparse, element_type},
                 {"B", {Affine::of("K"), Affine::of("N")}, ArrayRole::dense, element_type},
                 {"C", {Affine::of("M"), Affine::of("N")}, ArrayRole::output, element_type}};
  nest.body = {loop("i", "M", Role::row, loop("k", "K", Role::reduction, loop("j", "N", Role::column, statement)))};
  return nest;
}

}  // namespace esc
