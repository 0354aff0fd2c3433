// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/canonicalize.h"

#include <algorithm>
#include <map>
#include <string>

#include "generator/ir/rewrite.h"
#include "generator/lower/flatten.h"
#include "generator/support/error.h"

namespace esc {
namespace {

using Names = std::map<std::string, std::string>;

std::string rename(const std::string& name, const Names& names) {
  const auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

/// The elements of operands that the epilogue reads, by array.
std::map<std::string, Access> operand_elements(const Epilogue& epilogue) {
  std::map<std::string, Access> elements;
  const Rewrite visit{.access = [&](const Access& access) { return elements[access.array] = access; }};
  for (const Define& step : epilogue.steps) {
    rewrite(step.value, visit);
  }
  rewrite(epilogue.value, visit);
  return elements;
}

/// The epilogue in canonical names, with its operands as further arrays of the nest: by how an operand is indexed, its
/// extents are M and N. A table has a number for each row, one after the other.
void add_epilogue(LoopNest& canonical, const LoopNest& nest, const Flattened& flattened) {
  const Epilogue& given = *nest.epilogue;
  Names names;
  const auto own = [&](const std::string& name) { return names[name] = own_name(name); };
  Epilogue epilogue{{"i", "j"}, own(given.sum), {}, {}};
  const std::map<std::string, Access> elements = operand_elements(given);
  for (ArrayDeclaration operand : nest.arrays) {
    if (operand.role != ArrayRole::operand && operand.role != ArrayRole::table) {
      continue;
    }
    const Access& element = elements.at(operand.name);
    if (operand.role == ArrayRole::table) {
      operand.extents = {static_cast<std::int64_t>(operand.values.size())};
      operand.type = sum_type(operand.type);  // of numbers that are computed with, not stored
      operand.name = own(operand.name);
      canonical.arrays.push_back(std::move(operand));
      continue;
    }
    operand.extents.clear();
    for (const Subscript& subscript : flattened.flat(element).subscripts) {
      operand.extents.push_back(Affine::of(subscript.affine.is_name("i") ? "M" : "N"));
    }
    if (operand.extents.size() == 2 && !operand.layout) {
      operand.layout = flattened.layout_of(element, Role::row);
    }
    operand.name = own(operand.name);
    canonical.arrays.push_back(std::move(operand));
  }
  const Rewrite renamed{
      .access =
          [&](const Access& access) { return Access{rename(access.array, names), flattened.flat(access).subscripts}; },
      .expression =
          [&](const Expression& expression) {
            const auto* name = std::get_if<Name>(&expression.content);
            return name == nullptr ? expression : Expression(Name{rename(name->name, names)});
          }};
  for (const Define& step : given.steps) {
    const Expression value = rewrite(step.value, renamed);
    epilogue.steps.push_back({step.type, own(step.name), value});
  }
  epilogue.value = rewrite(given.value, renamed);
  canonical.epilogue = std::move(epilogue);
}

/// for (i < M) for (j < N) for (k < K) around the product's statement.
Block ordered_loops(const Block& product) {
  Block body = find_loop(product, Role::column)->body;
  for (const Role role : {Role::reduction, Role::column, Role::row}) {
    Loop loop = *find_loop(product, role);
    loop.body = std::move(body);
    body = {Node{std::move(loop)}};
  }
  return body;
}

}  // namespace

LoopNest canonicalize(const LoopNest& nest) {
  const Flattened flattened(nest);
  const Update& update = update_of(nest);
  LoopNest canonical = spmm_nest(nest.element());
  canonical.body = ordered_loops(canonical.body);
  const auto lay_out = [&](ArrayRole role, const Access& element, Role rows) {
    const std::optional<Layout>& given = nest.array(role).layout;
    const std::string& name = canonical.array(role).name;
    const auto array = std::ranges::find(canonical.arrays, name, &ArrayDeclaration::name);
    array->layout = given ? given : flattened.layout_of(element, rows);
  };
  lay_out(ArrayRole::dense, element_read(update, nest.array(ArrayRole::dense).name), Role::reduction);
  lay_out(ArrayRole::output, *update.target.access(), Role::row);
  if (nest.epilogue) {
    add_epilogue(canonical, nest, flattened);
  } else if (nest.finishes_sums()) {
    canonical.epilogue = Epilogue{{"i", "j"}, "sum_", {}, Name{"sum_"}};
  }
  return canonical;
}

}  // namespace esc
