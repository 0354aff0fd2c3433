// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/assign_roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "generator/ir/print.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/dense_subscripts.h"
#include "generator/lower/epilogue_operands.h"
#include "generator/lower/find_epilogue.h"
#include "generator/lower/require_bounds.h"
#include "generator/lower/split_dimensions.h"
#include "generator/lower/written_product.h"

namespace esc {
namespace {

constexpr const char* three_loops = "expected three, over rows, reduction and columns";
constexpr const char two_things[] = "{} stands for two things here: expected different names";

/// Where the update is that gathers the sums. Where none does, but something is added to, that is what was meant.
std::size_t find_update(const std::vector<NestedStatement>& statements) {
  const auto next = [&](auto from, const auto& wanted) { return std::find_if(from, statements.end(), wanted); };
  const auto update = next(statements.begin(), gathers);
  if (update == statements.end()) {
    const auto added =
        next(statements.begin(), [](const NestedStatement& one) { return one.action<Update>() != nullptr; });
    if (added == statements.end()) {
      refuse({}, "nothing is added to an output in this function: expected {}", expected_product);
    }
    return static_cast<std::size_t>(added - statements.begin());
  }
  if (const auto second = next(update + 1, gathers); second != statements.end()) {
    refuse(second->part(), "a second update: expected one, {}", expected_product);
  }
  return static_cast<std::size_t>(update - statements.begin());
}

/// The product's arrays are handed over by a call.
void require_no_tables(const LoopNest& nest, const NestedStatement& update) {
  const auto require = [&](const Expression& expression, const NestPart& part) {
    rewrite(
        expression, {.access = [&](const Access& access) {
          if (const ArrayDeclaration* array = nest.find_array(access.array);
              array != nullptr && !array->values.empty()) {
            refuse(
                part,
                "{} has its elements in the text: expected a parameter of the function, so that a call hands them over",
                access.array);
          }
          return access;
        }});
  };
  std::size_t number = 0;
  for (const Expression& factor : factors(update.action<Update>()->value)) {
    require(factor, update.part(NestPart::Element::factor, number++));
  }
  number = 0;
  for (const Expression& guard : update.statement->guard) {
    require(guard, update.part(NestPart::Element::guard, number++));
  }
}

/// A loop for rows, reduction and columns each, and none that is about none of them.
void require_loops(const NestedStatement& update) {
  const std::size_t count = update.loops.size();
  const auto& action = *update.action<Update>();
  const bool is_idle = std::ranges::any_of(update.loops, [&](const Loop* loop) {
    bool is_used = false;
    const Rewrite look{.affine = [&](const Affine& affine) {
      is_used = is_used || affine.mentions(loop->iterator);
      return affine;
    }};
    rewrite(action.target, look);
    rewrite(action.value, look);
    return !is_used;
  });
  if (count < 3 || (count > 3 && is_idle)) {
    refuse(count > 3 ? update.loop_part(3) : update.loop_part(0), "the update is in {} loop{}: {}", count,
           count == 1 ? "" : "s", three_loops);
  }
}

void require_distinct_arrays(const WrittenProduct& written) {
  for (const WrittenElement& factor : written.factors) {
    if (factor.array() == written.output.array()) {
      refuse(factor.part, "{} is read as a factor and also added to: expected three different arrays", factor.array());
    }
  }
  if (written.factors[0].array() == written.factors[1].array()) {
    refuse(written.factors[1].part, "{} is both factors: expected three different arrays", written.factors[1].array());
  }
}

void require_same_type(const LoopNest& nest, const WrittenProduct& written) {
  const ScalarType expected = declaration(nest, written.output).type;
  for (const WrittenElement& factor : written.factors) {
    if (const ScalarType type = declaration(nest, factor).type; type != expected) {
      refuse(factor.part, "{} holds {}, {} holds {}: expected the same type in all three arrays", factor.array(),
             nest_name(type), written.output.array(), nest_name(expected));
    }
  }
}

void require_guards_on_sparse(const WrittenProduct& written, const RolesOfProduct& roles) {
  for (const WrittenElement& guard : written.zero_guards) {
    if (guard.access != roles.sparse.access) {
      refuse(guard.part, "the guard tests {}: expected {}, the factor that runs over rows and reduction",
             print(guard.access), print(roles.sparse.access));
    }
  }
}

/// An operand for each row or column is one after the other, as rows and columns are counted.
void require_order_of_operands(const LoopNest& nest, const FoundEpilogue& found, const WrittenProduct& written,
                               const RolesOfProduct& roles) {
  for (const auto& [access, part] : found.accesses) {
    const WrittenElement element{access, part};
    std::vector<std::string> iterators = require_iterators(element, written.loops);
    const bool is_vector = !iterators.empty() && iterators.size() < roles.rows.size() + roles.columns.size();
    const bool is_of_columns =
        std::ranges::any_of(iterators, [&](const std::string& one) { return roles.role_of(one) == Role::column; });
    if (is_of_columns && !nest.find_array(access.array)->values.empty()) {
      refuse(part, "{}: how many columns there are a call says", table_of_rows(access.array));
    }
    const std::vector<std::string>& expected = is_of_columns ? roles.columns : roles.rows;
    if (is_vector && iterators != expected) {
      std::string subscripts;
      for (const std::string& iterator : expected) {
        subscripts += "[" + iterator + "]";
      }
      refuse(part, "{} has other subscripts than rows or columns have, or in another order: expected {}{}",
             print(access), access.array, subscripts);
    }
    if (!is_vector && !iterators.empty()) {
      require_outermost(element, written, roles);
    }
  }
}

/// The nest knows arrays, sizes and iterators by name alone.
void require_distinct_names(const RolesOfProduct& roles, const NestedStatement& update, const FoundEpilogue& found) {
  std::set<std::string> names;
  for (const Loop* loop : update.loops) {
    for (const Affine::Term& term : loop->upper.terms()) {
      names.insert(term.name);
    }
  }
  for (const WrittenElement* element : {&roles.sparse, &roles.dense, &roles.output}) {
    if (!names.insert(element->array()).second) {
      refuse(element->part, two_things, element->array());
    }
  }
  for (const auto& [operand, part] : found.accesses) {
    if (!names.insert(operand.array).second) {
      refuse(part, two_things, operand.array);
    }
  }
  for (std::size_t depth = 0; depth < update.loops.size(); ++depth) {
    if (names.contains(update.loops[depth]->iterator)) {
      refuse(update.loop_part(depth), two_things, update.loops[depth]->iterator);
    }
  }
}

/// Each condition once.
Guard distinct(const Guard& guard) {
  Guard result;
  for (const Expression& condition : guard) {
    if (std::ranges::find(result, condition) == result.end()) {
      result.push_back(condition);
    }
  }
  return result;
}

LoopNest with_roles(const LoopNest& nest, const NestedStatement& update, const RolesOfProduct& roles,
                    FoundEpilogue found) {
  Statement statement = *update.statement;
  statement.action = Update{roles.output.access, product({roles.sparse.access, roles.dense.access})};
  statement.guard = distinct(statement.guard);
  LoopNest result = nest;
  result.body = {Node{std::move(statement)}};
  for (auto written = update.loops.rbegin(); written != update.loops.rend(); ++written) {
    Loop loop = **written;
    loop.role = roles.role_of(loop.iterator);
    loop.body = std::move(result.body);
    result.body = {Node{std::move(loop)}};
  }
  result.arrays.clear();
  for (const auto& [element, role] :
       {std::pair(&roles.sparse, ArrayRole::sparse), std::pair(&roles.dense, ArrayRole::dense),
        std::pair(&roles.output, ArrayRole::output)}) {
    result.arrays.push_back(declaration(nest, *element));
    result.arrays.back().role = role;
  }
  if (found.epilogue) {
    result.epilogue = std::move(found.epilogue);
    result.arrays.insert(result.arrays.end(), found.operands.begin(), found.operands.end());
  }
  return result;
}

/// Of a nest without loaded indices.
LoopNest roles_of(const LoopNest& written_nest) {
  const LoopNest nest = split_dimensions(written_nest);
  const std::vector<NestedStatement> statements = find_statements(nest);
  const std::size_t at = find_update(statements);
  const NestedStatement& update = statements[at];
  require_no_tables(nest, update);
  require_loops(update);
  if (!gathers(update)) {
    refuse(update.part(), "nothing is added up over a loop in this function: expected {}", expected_product);
  }
  const FoundEpilogue found = find_epilogue(nest, statements, at);
  const WrittenProduct written = read_product(update, found.output, found.output_part);
  require_distinct_arrays(written);
  require_same_type(nest, written);
  const RolesOfProduct roles = find_roles(written);
  require_guards_on_sparse(written, roles);
  require_distinct_names(roles, update, found);
  require_bounds(nest, written, roles, update);
  require_order_of_operands(nest, found, written, roles);
  return with_roles(nest, update, roles, found);
}

}  // namespace

LoopNest assign_roles(const LoopNest& written_nest) {
  ESC_CHECK(!written_nest.epilogue.has_value(), "a nest as written has statements for what follows the product");
  const std::optional<DenseSubscripts> dense = DenseSubscripts::of(written_nest);
  if (!dense) {
    return roles_of(written_nest);
  }
  try {
    LoopNest result = roles_of(dense->nest());
    result.written = {dense->over_stored_elements(result)};
    return result;
  } catch (const NestError& error) {
    throw NestError(dense->given_part(error.part()), error.rule());
  }
}

}  // namespace esc
