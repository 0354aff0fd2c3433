// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/launch_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "generator/emit/launch_plan.h"
#include "generator/emit/print_kernel.h"

namespace esc {
namespace {

RuntimeParameter count(std::string name, std::uint64_t value) {
  return {.type = "unsigned int", .name = std::move(name), .values = {value}};
}

/// Where grids follow from the matrix and not from its shape alone.
bool has_own_grid(const LoopNest& nest) {
  return nest.packed.kind == PackedForm::Kind::lists || nest.packed.kind == PackedForm::Kind::tasks;
}

/// "static_cast<size_t>(numbers[3])".
std::string number_at(const RuntimeParameter& number, std::size_t at) {
  return fmt::format("static_cast<{}>(numbers[{}])", number.type, at);
}

}  // namespace

std::vector<RuntimeParameter> launch_parameters(const Layer& layer) {
  std::vector<RuntimeParameter> numbers;
  if (!is_shape_generic(layer)) {
    return numbers;
  }
  for (const std::string& size : kernel_sizes(layer.lowered)) {
    numbers.push_back(count(size, static_cast<std::uint64_t>(layer.sizes.at(size))));
  }
  if (!has_own_grid(layer.lowered)) {
    return numbers;
  }
  const LaunchPlan plan = launch_plan(layer);
  numbers.push_back(count("blocks_of_grid", plan.grid_x));
  if (plan.zeroing) {
    for (const std::string& size : kernel_sizes(layer.lowered.before.front())) {
      numbers.push_back(count(size, static_cast<std::uint64_t>(layer.sizes.at(size))));
    }
    numbers.push_back(count("zeroing_blocks", plan.zeroing->grid_x));
  }
  return numbers;
}

std::vector<std::uint64_t> parameter_values(const Layer& layer) {
  std::vector<std::uint64_t> all;
  for (const std::vector<RuntimeParameter>& part : {runtime_parameters(layer), launch_parameters(layer)}) {
    for (const RuntimeParameter& number : part) {
      std::ranges::copy(number.values, std::back_inserter(all));
    }
  }
  return all;
}

std::string packed_matrix_argument(const Layer& layer) {
  std::size_t at = 0;
  std::string members = "static_cast<const unsigned char*>(packed)";
  for (const RuntimeParameter& number : runtime_parameters(layer)) {
    std::string values;
    for (std::size_t i = 0; i < number.values.size(); ++i) {
      values += (i == 0 ? "" : ", ") + number_at(number, at++);
    }
    members += ", " + (number.is_list ? "{" + values + "}" : values);
  }
  std::string text = fmt::format("const PackedMatrix bytes = {{{}}};\n", members);
  for (const RuntimeParameter& number : launch_parameters(layer)) {
    text += fmt::format("const {} {} = {};\n", number.type, number.name, number_at(number, at++));
  }
  return text + (at == 0 ? "static_cast<void>(numbers);\n" : "");
}

}  // namespace esc
