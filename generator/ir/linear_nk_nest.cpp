// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/linear_nk_nest.h"

#include <string>
#include <utility>

#include "generator/ir/build.h"

namespace esc {
namespace {

ArrayDeclaration matrix(const std::string& name, const std::string& rows, const std::string& columns, ArrayRole role,
                        ScalarType element) {
  return {name, {Affine::of(rows), Affine::of(columns)}, role, element};
}

Access at(const std::string& array, const std::string& row, const std::string& column) {
  return element(array, {Affine::of(row), Affine::of(column)});
}

Node loop(const std::string& iterator, const std::string& size, Role role, Node body) {
  return sequential_loop(iterator, 0, Affine::of(size), 1, role, {std::move(body)});
}

}  // namespace

LoopNest linear_nk_nest(ScalarType element) {
  LoopNest nest;
  nest.arrays = {matrix("W", "M", "K", ArrayRole::sparse, element), matrix("X", "N", "K", ArrayRole::dense, element),
                 matrix("Y", "N", "M", ArrayRole::output, element)};
  const Access weight = at("W", "i", "k");
  Node update{Statement{{is_nonzero(weight)}, Update{at("Y", "t", "i"), product({weight, at("X", "t", "k")})}}};
  nest.body = {
      loop("t", "N", Role::column, loop("i", "M", Role::row, loop("k", "K", Role::reduction, std::move(update))))};
  return nest;
}

}  // namespace esc
