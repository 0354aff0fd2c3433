// SPDX-License-Identifier: Apache-2.0
#include "generator/model/weight.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "generator/support/error.h"
#include "generator/support/limits.h"

namespace esc {

std::int64_t Weight::columns() const {
  std::int64_t columns = 1;
  for (std::size_t dimension = 1; dimension < shape.size(); ++dimension) {
    columns *= shape[dimension];
  }
  return columns;
}

std::uint64_t Weight::stored_bytes() const {
  std::uint64_t bytes = 0;
  for (const StoredTensor& part : parts) {
    bytes +=
        part.member && !expert ? part.member->size : part.elements() * static_cast<std::uint64_t>(part.type->bits) / 8;
  }
  return bytes;
}

const char* name_of(WeightForm form) {
  static constexpr const char* names[] = {"plain", "masked", "sparse-bitmask", "sparse-24-bitmask", "csr", "csc", "bsr",
                                          "coo",   "dia"};
  return names[static_cast<std::size_t>(form)];
}

namespace {

constexpr const char* name_another = "name a matrix of floats: escgen inspect lists them";

/// What its type and its shape say against it; empty for nothing.
std::string shape_problem(const Weight& weight) {
  if (!weight.type->element) {
    return fmt::format("has elements of type {}, not F64, F32, F16 or BF16", weight.type->name);
  }
  if (weight.shape.size() != 2 && !is_filter(weight.shape)) {
    return fmt::format("has {} dimensions, not 2, nor 3 to 5 as weights of a convolution", weight.shape.size());
  }
  std::int64_t columns = 1;
  for (std::size_t dimension = 0; dimension < weight.shape.size(); ++dimension) {
    const std::int64_t extent = weight.shape[dimension];
    if (extent < 1) {
      return "has a dimension of 0";
    }
    if (extent > largest_dimension || (dimension > 0 && extent > largest_dimension / columns)) {
      return "has more than 2^31 - 1 rows or columns";
    }
    columns *= dimension > 0 ? extent : 1;
  }
  if (is_filter(weight.shape) && weight.parts.front().is_fortran_order) {
    return fmt::format("has {} dimensions in Fortran order", weight.shape.size());
  }
  return {};
}

}  // namespace

std::optional<Obstacle> obstacle_of(const Weight& weight) {
  if (weight.obstacle) {
    return weight.obstacle;
  }
  const std::string problem = shape_problem(weight);
  return problem.empty() ? std::nullopt : std::optional(Obstacle{problem, name_another});
}

bool hides_layer(const Weight& weight) { return weight.obstacle && weight.obstacle->hides_layer; }

std::string why_no_matrix(const Weight& weight) {
  const std::optional<Obstacle> obstacle = obstacle_of(weight);
  return obstacle ? obstacle->rule : std::string();
}

Weight transposed(Weight weight) {
  if (weight.shape.size() != 2 || (weight.form != WeightForm::plain && weight.form != WeightForm::masked)) {
    throw UserError(weight.place(),
                    fmt::format("is {} ({}), which is not transposed", shape_text(weight.shape), name_of(weight.form)),
                    "transpose it where it is saved");
  }
  std::ranges::reverse(weight.shape);
  for (StoredTensor& part : weight.parts) {
    std::ranges::reverse(part.shape);
    part.is_fortran_order = !part.is_fortran_order;
  }
  return weight;
}

}  // namespace esc
