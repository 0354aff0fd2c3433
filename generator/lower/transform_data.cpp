#include "generator/lower/transform_data.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "generator/ir/rewrite.h"
#include "generator/lower/mapped_nest.h"

namespace esc {
namespace {

/// Element `position` of a packed one-dimensional array, counted from a run-time offset.
Access packed(const std::string& array, const std::string& offset, const Affine& position) {
  return {array, {{offset, position}}};
}

/// What each thread reads of its list before it begins.
Block list_definitions(std::int64_t height) {
  const Affine list = Affine::of("list");
  return {define("panel", packed("Panels", "", list)),  define("i", Affine::of("panel", height)),
          define("pattern", packed("Patterns", "", list)), define("first", packed("RPP", "", list)),
          define("last", packed("RPP", "", list + 1)),  define("count", Affine::of("last") - Affine::of("first")),
          define("values", packed("NPP", "", list))};
}

bool defines_column_count(const Node& node) {
  const auto* statement = std::get_if<Statement>(&node.content);
  const auto* defined = statement == nullptr ? nullptr : std::get_if<Define>(&statement->action);
  return defined != nullptr && std::holds_alternative<ColumnCount>(defined->value.content);
}

/// One enumerated block with its columns and its values of A taken from the packed lists.
class PackedCase {
 public:
  explicit PackedCase(const Pattern& pattern) : pattern_(pattern) {}

  Block transform(const Block& block) {
    Block result;
    for (const Node& node : block) {
      if (defines_column_count(node)) {
        continue;  // the list's own count, read once for all cases
      }
      if (const auto* loop = std::get_if<Loop>(&node.content)) {
        Loop inner = *loop;
        inner.body = transform(loop->body);
        result.push_back(Node{std::move(inner)});
      } else {
        result.push_back(Node{transform(std::get<Statement>(node.content))});
      }
    }
    return result;
  }

 private:
  Statement transform(const Statement& statement) {
    if (const auto* defined = std::get_if<Define>(&statement.action)) {
      if (const auto* at = std::get_if<ColumnAt>(&defined->value.content)) {
        positions_[defined->name] = at->position;
        return {statement.guard, Define{defined->type, defined->name, packed("Cols", "first", at->position)}};
      }
    }
    Statement packed_statement =
        rewrite(statement, {.access = [this](const Access& access) { return transform(access); }});
    std::erase(packed_statement.guard, has_columns());
    return packed_statement;
  }

  Access transform(const Access& access) const {
    if (access.array != "A") {
      return access;
    }
    const auto row = static_cast<int>(access.subscripts[0].affine.constant());
    const std::string& column = access.subscripts[1].affine.terms().front().name;
    return packed("ANNZ", "values", positions_.at(column) * pattern_.popcount() + pattern_.rank(row));
  }

  Pattern pattern_;
  std::map<std::string, Affine> positions_;  ///< of each column variable in its list
};

bool is_coarsened(const Case& one) { return !one.body.empty() && defines_column_count(one.body.front()); }

std::vector<ArrayDeclaration> packed_arrays(ScalarType element) {
  const Affine lists = Affine::of("lists");
  return {{"Panels", {lists}, ArrayRole::packed_index},
          {"Patterns", {lists}, ArrayRole::packed_index},
          {"RPP", {lists + 1}, ArrayRole::packed_index},
          {"NPP", {lists + 1}, ArrayRole::packed_index},
          {"Cols", {Affine::of("enumerated_columns")}, ArrayRole::packed_index},
          {"ANNZ", {Affine::of("nonzeros")}, ArrayRole::packed_value, element}};
}

}  // namespace

LoopNest transform_data(const LoopNest& nest, const Transform& directive) {
  const ArrayDeclaration* sparse = nullptr;
  for (const ArrayDeclaration& array : nest.arrays) {
    if (array.role == ArrayRole::sparse && array.name == directive.array) {
      sparse = &array;
    }
  }
  if (sparse == nullptr) {
    throw ScheduleError(directive, fmt::format("'{}' is not a sparse array of the nest", directive.array),
                        "transform the sparse array, once");
  }
  ThreadBody body = thread_body(nest, print(Directive(directive)));
  for (Case& one : body.choice.cases) {
    if (!is_coarsened(one)) {
      throw ScheduleError(directive, "the columns are not coarsened", "coarsen the reduction loop first, as in coarsen(k, 1)");
    }
    one.body = PackedCase(std::get<Pattern>(one.label)).transform(one.body);
  }
  const std::int64_t height = nest.derived_sizes.front().divisor;
  body.definitions = list_definitions(height);

  LoopNest result = with_thread_body(nest, body);
  Loop& grid = std::get<Loop>(result.body.front().content);
  grid.iterator = "list";
  grid.upper = Affine::of("lists");
  result.derived_sizes.clear();
  result.packed = {.kind = PackedForm::Kind::lists, .height = height};
  std::erase_if(result.arrays, [](const ArrayDeclaration& array) { return array.role == ArrayRole::sparse; });
  for (ArrayDeclaration& array : packed_arrays(nest.element())) {
    result.arrays.push_back(std::move(array));
  }
  result.story.emplace_back(
      "What the kernel reads is the packed matrix, with a list for each panel and pattern: Panels[l] and Patterns[l] are those "
      "of list l (bit r of a pattern: row r of the panel), RPP[l] to RPP[l + 1] are its columns in Cols, and NPP[l] to "
      "NPP[l + 1] its values in ANNZ, for each column the rows of the pattern in order.");
  return result;
}

}  // namespace esc
