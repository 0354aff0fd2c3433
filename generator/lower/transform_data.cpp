// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/transform_data.h"

#include <map>
#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"

namespace esc {
namespace {

/// Element `position` of a packed one-dimensional array, counted from a run-time offset.
Access packed(const std::string& array, const std::string& offset, const Affine& position) {
  return {array, {{offset, position}}};
}

/// What each thread reads of its list before it begins.
Block list_definitions(std::int64_t height) {
  const Affine list = Affine::of("list");
  return {define("row_tile", packed("Panels", "", list)),  define("i", Affine::of("row_tile", height)),
          define("pattern", packed("Patterns", "", list)), define("first", packed("RPP", "", list)),
          define("last", packed("RPP", "", list + 1)),     define("count", Affine::of("last") - Affine::of("first")),
          define("values", packed("NPP", "", list))};
}

/// One enumerated block with its columns and its values of A taken from the packed lists.
Block read_list(const Case& one) {
  const auto& pattern = std::get<Pattern>(one.label);
  std::map<std::string, Affine> positions;  // of each column variable in its list
  const auto read_value = [&](const Access& access) {
    if (access.array != "A") {
      return access;
    }
    const auto row = static_cast<int>(access.subscripts[0].affine.constant());
    const std::string& column = access.subscripts[1].affine.terms().front().name;
    return packed("ANNZ", "values", positions.at(column) * pattern.popcount() + pattern.rank(row));
  };
  const auto read_column = [&](Statement statement) -> Block {
    if (counts_columns(Node{statement})) {
      return {};  // the list's own count, read once for all cases
    }
    auto* defined = std::get_if<Define>(&statement.action);
    if (const auto* at = defined == nullptr ? nullptr : std::get_if<ColumnAt>(&defined->value.content)) {
      positions[defined->name] = at->position;
      defined->value = packed("Cols", "first", positions[defined->name]);
    }
    std::erase(statement.guard, has_columns());
    return {Node{std::move(statement)}};
  };
  return rewrite(one.body, {.access = read_value, .statement = read_column});
}

}  // namespace

LoopNest transform_data(const LoopNest& nest, const Transform& directive) {
  check_sparse(nest, directive, directive.array);
  ThreadNest parts = take_apart_cases(nest, directive);
  auto choice = std::get<Switch>(parts.body.back().content);
  for (Case& one : choice.cases) {
    refuse_if(one.body.empty() || !counts_columns(one.body.front()), directive, "the columns are not coarsened",
              "coarsen the reduction loop first, as in coarsen(k, 1)");
    one.body = read_list(one);
  }
  const std::int64_t height = nest.derived_sizes.front().divisor;
  parts.body = list_definitions(height);
  parts.body.push_back(Node{std::move(choice)});
  parts.grid.front().iterator = "list";
  parts.grid.front().upper = Affine::of("lists");

  LoopNest result = put_together(nest, parts);
  result.derived_sizes.clear();
  result.packed = {.kind = PackedForm::Kind::lists, .height = height};
  const Affine lists = Affine::of("lists");
  replace_sparse(result, {{"Panels", {lists}, ArrayRole::packed_index},
                          {"Patterns", {lists}, ArrayRole::packed_index},
                          {"RPP", {lists + 1}, ArrayRole::packed_index},
                          {"NPP", {lists + 1}, ArrayRole::packed_index},
                          {"Cols", {Affine::of("enumerated_columns")}, ArrayRole::packed_index},
                          {"ANNZ", {Affine::of("nonzeros")}, ArrayRole::packed_value, nest.element()}});
  result.description.emplace_back(
      "The kernel reads the packed matrix, which has a list for each row tile and pattern. Panels[l] and Patterns[l] "
      "are those of list l (bit r of a pattern: row r of the row tile); RPP[l] to RPP[l + 1] are its columns in Cols, "
      "and NPP[l] to NPP[l + 1] its values in ANNZ, for each column the rows of the pattern in order.");
  return result;
}

}  // namespace esc
