#include "generator/lower/compact.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "generator/ir/rewrite.h"
#include "generator/lower/mapped_nest.h"
#include "generator/schedule/directive.h"

namespace esc {
namespace {

/// "c3_1" -> "c2_1" when row 3 has rank 2 in the pattern; other names stay.
std::string by_rank(const std::string& name, const std::map<std::string, std::string>& renamed) {
  const auto found = renamed.find(name);
  return found == renamed.end() ? name : found->second;
}

/// The scalars of a pattern's body, each with its name by rank in place of row.
std::map<std::string, std::string> scalar_names(const Pattern& pattern, int tiles) {
  std::map<std::string, std::string> renamed;
  for (int row = 0; row < pattern.height; ++row) {
    for (int tile = 0; pattern.has_row(row) && tile < tiles; ++tile) {
      renamed[fmt::format("c{}_{}", row, tile)] = fmt::format("c{}_{}", pattern.rank(row), tile);
    }
  }
  return renamed;
}

/// The body of one pattern with its rows of C as run-time offsets row0, row1, .. by rank.
Block with_row_offsets(const Case& one, int tiles) {
  const auto& pattern = std::get<Pattern>(one.label);
  const std::map<std::string, std::string> renamed = scalar_names(pattern, tiles);
  const auto offset_rows = [&](const Access& access) {
    if (access.array != "C") {
      return access;
    }
    Access moved = access;
    Subscript& row = moved.subscripts[0];
    row.offset = fmt::format("row{}", pattern.rank(static_cast<int>(row.affine.constant())));
    row.affine = row.affine - row.affine.constant();
    return moved;
  };
  const auto rename_scalar = [&](const Expression& expression) -> Expression {
    const auto* scalar = std::get_if<Name>(&expression.content);
    return scalar == nullptr ? expression : Expression(Name{by_rank(scalar->name, renamed)});
  };
  return rewrite(one.body, {.access = offset_rows,
                            .expression = rename_scalar,
                            .definition = [&](const std::string& name) { return by_rank(name, renamed); }});
}

/// row0, row1, ..: the positions of the pattern's set bits.
Block row_offsets(std::int64_t rows) {
  Block definitions;
  std::string mask = "pattern";
  for (std::int64_t rank = 0; rank < rows; ++rank) {
    if (rank > 0) {
      const std::string rest = fmt::format("rest{}", rank);
      definitions.push_back(define(rest, Operation{Operator::clear_lowest_set_bit, {index(mask)}}));
      mask = rest;
    }
    definitions.push_back(define(fmt::format("row{}", rank), Operation{Operator::lowest_set_bit, {index(mask)}}));
  }
  return definitions;
}

/// How many columns one thread owns: from the updates of C in a body.
int count_tiles(const Block& body) {
  int tiles = 0;
  rewrite(body, {.access = [&](const Access& access) {
            if (access.array == "C") {
              tiles = std::max(tiles, static_cast<int>(access.subscripts[1].affine.constant() / 32) + 1);
            }
            return access;
          }});
  return tiles;
}

bool is_transformed(const LoopNest& nest) {
  for (const ArrayDeclaration& array : nest.arrays) {
    if (array.role == ArrayRole::packed_value) {
      return true;
    }
  }
  return false;
}

}  // namespace

LoopNest compact(const LoopNest& nest) {
  ThreadBody body = thread_body(nest, "compact()");
  if (!is_transformed(nest)) {
    throw ScheduleError("compact()", "the sparse array is not transformed", "transform it first");
  }
  if (std::get<std::string>(body.choice.subject) != "pattern") {
    throw ScheduleError("compact()", "the nest is already compacted", "compact once");
  }

  std::map<std::int64_t, Block> by_rows;
  for (const Case& one : body.choice.cases) {
    Block offset = with_row_offsets(one, count_tiles(one.body));
    const auto [entry, first] = by_rows.try_emplace(std::get<Pattern>(one.label).popcount(), offset);
    ESC_CHECK(first || entry->second == offset, "bodies of patterns with the same number of rows are the same");
  }
  body.definitions.push_back(define("rows", Operation{Operator::population_count, {index("pattern")}}));
  body.choice = {"rows", {}};
  for (const auto& [rows, common] : by_rows) {
    Case one{rows, row_offsets(rows)};
    one.body.insert(one.body.end(), common.begin(), common.end());
    body.choice.cases.push_back(std::move(one));
  }
  return with_thread_body(nest, body);
}

}  // namespace esc
