#include "generator/lower/assign_roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "generator/ir/print.h"
#include "generator/lower/find_epilogue.h"

namespace esc {
namespace {

constexpr const char* three_loops = "expected three, over rows, reduction and columns";
constexpr const char two_things[] = "{} stands for two things here: expected different names";

/// Where the update stands that gathers the sums. Where none does, but something is added to, that is what was meant.
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

void require_three_loops(const NestedStatement& update) {
  const std::size_t count = update.loops.size();
  if (count != 3) {
    refuse(count > 3 ? update.loop_part(3) : update.loop_part(0), "the update stands in {} loop{}: {}", count,
           count == 1 ? "" : "s", three_loops);
  }
}

/// An element of a matrix, as a part of the nest.
struct Element {
  Access access;
  std::string row;
  std::string column;
  NestPart part;

  const std::string& array() const { return access.array; }
  bool is_indexed_by(const std::string& iterator) const { return row == iterator || column == iterator; }
};

/// The product as written.
struct Written {
  std::vector<const Loop*> loops;
  Element output;
  std::vector<Element> factors;
  std::vector<Element> guards;
};

Element element(const Expression& expression, const NestedStatement& update, const NestPart& part) {
  const Access* access = expression.access();
  ESC_CHECK(access != nullptr, "an element: " + print(expression));
  if (access->subscripts.size() != 2) {
    refuse(part, "{} has {} dimensions: expected a matrix, of two", access->array, access->subscripts.size());
  }
  const auto iterator = [&](const Subscript& subscript) {
    const auto loop = std::ranges::find_if(update.loops, [&](const Loop* one) {
      return subscript == Subscript{"", Affine::of(one->iterator)};
    });
    if (loop == update.loops.end()) {
      refuse(part, "subscript {} of {}: expected the iterator of one loop, alone", print(subscript.affine), access->array);
    }
    return (*loop)->iterator;
  };
  Element result{*access, iterator(access->subscripts[0]), iterator(access->subscripts[1]), part};
  ESC_CHECK(result.row != result.column, "two different iterators: " + print(*access));
  return result;
}

Written read_elements(const NestedStatement& update, const FoundEpilogue& found) {
  Written written{update.loops, element(found.output, update, found.output_part), {}, {}};
  for (const Expression& factor : factors(update.action<Update>()->value)) {
    written.factors.push_back(element(factor, update, update.part(NestPart::Element::factor, written.factors.size())));
  }
  ESC_CHECK(written.factors.size() == 2, "two factors: " + print(update.action<Update>()->value));
  for (const Expression& guard : update.statement->guard) {
    const Operation* differs = guard.operation(Operator::differs);
    const NestPart part = update.part(NestPart::Element::guard, written.guards.size());
    if (differs == nullptr) {
      refuse(part, "a guard may leave out zeros only, and all of them: expected no other than on the sparse matrix");
    }
    written.guards.push_back(element(differs->operands.front(), update, part));
  }
  return written;
}

void require_distinct_arrays(const Written& written) {
  for (const Element& factor : written.factors) {
    if (factor.array() == written.output.array()) {
      refuse(factor.part, "{} is read as a factor and also added to: expected three different arrays", factor.array());
    }
  }
  if (written.factors[0].array() == written.factors[1].array()) {
    refuse(written.factors[1].part, "{} is both factors: expected three different arrays", written.factors[1].array());
  }
}

const ArrayDeclaration& declaration(const LoopNest& nest, const Element& element) {
  const ArrayDeclaration* found = nest.find_array(element.array());
  ESC_CHECK(found != nullptr, "the array is declared: " + element.array());
  return *found;
}

void require_same_type(const LoopNest& nest, const Written& written) {
  const ScalarType expected = declaration(nest, written.output).type;
  for (const Element& factor : written.factors) {
    if (const ScalarType type = declaration(nest, factor).type; type != expected) {
      refuse(factor.part, "{} holds {}, {} holds {}: expected the same type in all three arrays", factor.array(),
             c_name(type), written.output.array(), c_name(expected));
    }
  }
}

/// The product with every part in its role.
struct Product {
  Element sparse;
  Element dense;
  Element output;
  std::string reduction;
};

/// The sparse factor runs over the output's rows and the reduction, the dense one over the reduction and the output's
/// columns: that tells which is which before anything is asked about the order of subscripts.
Product find_roles(const Written& written) {
  const Element& output = written.output;
  const auto free_loop =
      std::ranges::find_if(written.loops, [&](const Loop* loop) { return !output.is_indexed_by(loop->iterator); });
  ESC_CHECK(free_loop != written.loops.end(), "three loops have three iterators");
  Product product{written.factors[0], written.factors[1], output, (*free_loop)->iterator};
  for (const Element& factor : written.factors) {
    if (!factor.is_indexed_by(product.reduction)) {
      refuse(factor.part, "{} is not indexed by {}, the iterator that {} does not have: expected {}",
             print(factor.access), product.reduction, print(output.access), expected_product);
    }
  }
  if (!product.sparse.is_indexed_by(output.row)) {
    std::swap(product.sparse, product.dense);
  }
  for (const auto& [factor, iterator] :
       {std::pair(&product.sparse, &output.row), std::pair(&product.dense, &output.column)}) {
    if (!factor->is_indexed_by(*iterator)) {
      refuse(factor->part, "no factor is indexed by iterator {} of {}: expected {}", *iterator, print(output.access),
             expected_product);
    }
  }
  return product;
}

void require_orientation(const Product& product) {
  const Element& sparse = product.sparse;
  const Element& dense = product.dense;
  const bool sparse_transposed = sparse.row == product.reduction;
  const bool dense_transposed = dense.column == product.reduction;
  if (sparse_transposed && dense_transposed) {
    refuse(product.output.part, "{} is the output transposed: expected [{}][{}]", print(product.output.access),
           product.output.column, product.output.row);
  }
  if (sparse_transposed) {
    refuse(sparse.part, "{} is the sparse matrix transposed: expected {}[{}][{}], M x K", print(sparse.access),
           sparse.array(), sparse.column, sparse.row);
  }
  if (dense_transposed) {
    refuse(dense.part, "{} is the dense matrix transposed: expected {}[{}][{}], K x N", print(dense.access),
           dense.array(), dense.column, dense.row);
  }
}

void require_guards_on_sparse(const std::vector<Element>& guards, const Product& product) {
  for (const Element& guard : guards) {
    if (guard.access != product.sparse.access) {
      refuse(guard.part, "the guard tests {}: expected {}, the factor that runs over rows and reduction",
             print(guard.access), print(product.sparse.access));
    }
  }
}

/// The nest knows arrays, sizes and iterators by name alone.
void require_distinct_names(const Product& product, const NestedStatement& update, const FoundEpilogue& found) {
  std::set<std::string> names;
  for (const Loop* loop : update.loops) {
    for (const Affine::Term& term : loop->upper.terms()) {
      names.insert(term.name);
    }
  }
  for (const Element* element : {&product.sparse, &product.dense, &product.output}) {
    if (!names.insert(element->array()).second) {
      refuse(element->part, two_things, element->array());
    }
  }
  for (const auto& [operand, part] : found.operand_parts) {
    if (!names.insert(operand).second) {
      refuse(part, two_things, operand);
    }
  }
  for (std::size_t depth = 0; depth < update.loops.size(); ++depth) {
    if (names.contains(update.loops[depth]->iterator)) {
      refuse(update.loop_part(depth), two_things, update.loops[depth]->iterator);
    }
  }
}

Role role_of(const std::string& iterator, const Product& product) {
  if (iterator == product.reduction) {
    return Role::reduction;
  }
  return iterator == product.output.row ? Role::row : Role::column;
}

LoopNest with_roles(const LoopNest& nest, const NestedStatement& update, const Product& product, FoundEpilogue found) {
  Statement statement = *update.statement;
  statement.action = Update{product.output.access, esc::product({product.sparse.access, product.dense.access})};
  if (!statement.guard.empty()) {
    statement.guard = {is_nonzero(product.sparse.access)};
  }
  LoopNest result = nest;
  result.body = {Node{std::move(statement)}};
  for (auto written = update.loops.rbegin(); written != update.loops.rend(); ++written) {
    Loop loop = **written;
    loop.role = role_of(loop.iterator, product);
    loop.body = std::move(result.body);
    result.body = {Node{std::move(loop)}};
  }
  result.arrays.clear();
  for (const auto& [element, role] :
       {std::pair(&product.sparse, ArrayRole::sparse), std::pair(&product.dense, ArrayRole::dense),
        std::pair(&product.output, ArrayRole::output)}) {
    result.arrays.push_back(declaration(nest, *element));
    result.arrays.back().role = role;
  }
  if (found.epilogue) {
    result.epilogue = std::move(found.epilogue);
    result.arrays.insert(result.arrays.end(), found.operands.begin(), found.operands.end());
  }
  return result;
}

}  // namespace

LoopNest assign_roles(const LoopNest& nest) {
  ESC_CHECK(!nest.epilogue.has_value(), "a nest as written has statements for what follows the product");
  const std::vector<NestedStatement> statements = find_statements(nest);
  const std::size_t at = find_update(statements);
  const NestedStatement& update = statements[at];
  require_three_loops(update);
  const FoundEpilogue found = find_epilogue(nest, statements, at);
  const Written written = read_elements(update, found);
  require_distinct_arrays(written);
  require_same_type(nest, written);
  const Product product = find_roles(written);
  require_orientation(product);
  require_guards_on_sparse(written.guards, product);
  require_distinct_names(product, update, found);
  return with_roles(nest, update, product, found);
}

}  // namespace esc
