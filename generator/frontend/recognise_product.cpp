#include "generator/frontend/recognise_product.h"

#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "generator/frontend/output_target.h"
#include "generator/frontend/refusal.h"

namespace esc::frontend {
namespace {

constexpr const char* three_loops = "expected three, over rows, reduction and columns";

std::size_t sole_update(const std::vector<Action>& actions, clang::SourceLocation function) {
  std::optional<std::size_t> update;
  for (std::size_t index = 0; index < actions.size(); ++index) {
    if (std::holds_alternative<Accumulate>(actions[index].content)) {
      if (update) {
        refuse(actions[index].place, fmt::format("a second update: expected one, {}", expected_product));
      }
      update = index;
    }
  }
  if (!update) {
    refuse(function, fmt::format("nothing is added to an output in this function: expected {}", expected_product));
  }
  return *update;
}

void require_three_loops(const Action& update) {
  const Loops& loops = update.scope.loops;
  if (loops.size() > 3) {
    refuse(loops[3]->place, fmt::format("the update stands in {} loops: {}", loops.size(), three_loops));
  }
  if (loops.size() < 3) {
    refuse(loops.empty() ? update.place : loops.front()->place,
           fmt::format("the update stands in {} loop{}: {}", loops.size(), loops.size() == 1 ? "" : "s", three_loops));
  }
}

std::string print(const MatrixElement& element) {
  return fmt::format("{}[{}][{}]", element.array->getNameAsString(), element.row, element.column);
}

bool is_indexed_by(const MatrixElement& element, const std::string& iterator) {
  return element.row == iterator || element.column == iterator;
}

/// The product with every part in its role.
struct Product {
  MatrixElement sparse;
  MatrixElement dense;
  MatrixElement output;
  std::string reduction;
};

void require_distinct_arrays(const MatrixElement& output, const std::vector<MatrixElement>& factors) {
  for (const MatrixElement& factor : factors) {
    if (factor.array == output.array) {
      refuse(*factor.source, fmt::format("{} is read as a factor and also added to: expected three different arrays",
                                         factor.array->getNameAsString()));
    }
  }
  if (factors[0].array == factors[1].array) {
    refuse(*factors[1].source,
           fmt::format("{} is both factors: expected three different arrays", factors[1].array->getNameAsString()));
  }
}

void require_same_type(const MatrixElement& output, const std::vector<MatrixElement>& factors) {
  const auto name = [](ScalarType type) { return type == ScalarType::f32 ? "float" : "double"; };
  for (const MatrixElement& factor : factors) {
    if (factor.type != output.type) {
      refuse(*factor.source, fmt::format("{} holds {}, {} holds {}: expected the same type in all three arrays",
                                         factor.array->getNameAsString(), name(factor.type),
                                         output.array->getNameAsString(), name(output.type)));
    }
  }
}

/// The sparse factor runs over the output's rows and the reduction, the dense one over the reduction and the output's
/// columns: that tells which is which before anything is asked about the order of subscripts.
Product assign_roles(const MatrixElement& output, const std::vector<MatrixElement>& factors, const Loops& loops) {
  const auto free_loop = std::find_if(loops.begin(), loops.end(),
                                      [&](const auto& loop) { return !is_indexed_by(output, loop->iterator); });
  Product product{factors[0], factors[1], output, (*free_loop)->iterator};
  for (const MatrixElement& factor : factors) {
    if (!is_indexed_by(factor, product.reduction)) {
      refuse(*factor.source, fmt::format("{} is not indexed by {}, the iterator that {} does not have: expected {}",
                                         print(factor), product.reduction, print(output), expected_product));
    }
  }
  if (!is_indexed_by(product.sparse, output.row)) {
    std::swap(product.sparse, product.dense);
  }
  for (const auto& [factor, iterator] :
       {std::pair(&product.sparse, &output.row), std::pair(&product.dense, &output.column)}) {
    if (!is_indexed_by(*factor, *iterator)) {
      refuse(*factor->source, fmt::format("no factor is indexed by iterator {} of {}: expected {}", *iterator,
                                          print(output), expected_product));
    }
  }
  return product;
}

void require_orientation(const Product& product) {
  const MatrixElement& sparse = product.sparse;
  const MatrixElement& dense = product.dense;
  const bool sparse_transposed = sparse.row == product.reduction;
  const bool dense_transposed = dense.column == product.reduction;
  if (sparse_transposed && dense_transposed) {
    refuse(*product.output.source, fmt::format("{} is the output transposed: expected [{}][{}]", print(product.output),
                                               product.output.column, product.output.row));
  }
  if (sparse_transposed) {
    refuse(*sparse.source, fmt::format("{} is the sparse matrix transposed: expected {}[{}][{}], M x K", print(sparse),
                                       sparse.array->getNameAsString(), sparse.column, sparse.row));
  }
  if (dense_transposed) {
    refuse(*dense.source, fmt::format("{} is the dense matrix transposed: expected {}[{}][{}], K x N", print(dense),
                                      dense.array->getNameAsString(), dense.column, dense.row));
  }
}

void require_guards_on_sparse(const std::vector<WrittenGuard>& guards, const Product& product) {
  for (const WrittenGuard& guard : guards) {
    if (!guard.element.same_element(product.sparse)) {
      refuse(*guard.element.source,
             fmt::format("the guard tests {}: expected {}, the factor that runs over rows and reduction",
                         print(guard.element), print(product.sparse)));
    }
  }
}

Role role_of(const std::string& iterator, const Product& product) {
  if (iterator == product.reduction) {
    return Role::reduction;
  }
  return iterator == product.output.row ? Role::row : Role::column;
}

const Affine& extent(const std::string& iterator, const Loops& loops) {
  return (*std::find_if(loops.begin(), loops.end(), [&](const auto& loop) { return loop->iterator == iterator; }))
      ->upper;
}

/// Shadowing could let one name stand for two things; the nest knows things by name alone.
void require_distinct_names(const Product& product, const Loops& loops) {
  std::set<std::string> names;
  for (const auto& loop : loops) {
    names.insert(loop->iterator);
  }
  std::set<std::string> others;
  for (const auto& loop : loops) {
    for (const Affine::Term& term : loop->upper.terms()) {
      others.insert(term.name);
    }
  }
  for (const MatrixElement* element : {&product.sparse, &product.dense, &product.output}) {
    const std::string name = element->array->getNameAsString();
    if (!others.insert(name).second) {
      refuse(*element->source, fmt::format("{} stands for two things here: expected different names", name));
    }
  }
  for (const auto& loop : loops) {
    if (others.count(loop->iterator) != 0) {
      refuse(loop->place, fmt::format("{} stands for two things here: expected different names", loop->iterator));
    }
  }
}

Access access(const MatrixElement& element) {
  return {element.array->getNameAsString(), {{"", Affine::of(element.row)}, {"", Affine::of(element.column)}}};
}

ArrayDeclaration declaration(const MatrixElement& element, ArrayRole role, const Loops& loops) {
  return {element.array->getNameAsString(), {extent(element.row, loops), extent(element.column, loops)}, role, element.type};
}

LoopNest build_nest(const Product& product, const Loops& loops, bool guarded) {
  const Access sparse = access(product.sparse);
  Statement statement{{}, Update{access(product.output), esc::product({sparse, access(product.dense)})}};
  if (guarded) {
    statement.guard = {is_nonzero(sparse)};
  }
  Node node{statement};
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    const WrittenLoop& written = **loop;
    node = Node{Loop{written.iterator,
                     0,
                     written.upper,
                     1,
                     role_of(written.iterator, product),
                     Mapping::sequential,
                     {std::move(node)}}};
  }
  LoopNest nest;
  nest.arrays = {declaration(product.sparse, ArrayRole::sparse, loops),
                 declaration(product.dense, ArrayRole::dense, loops),
                 declaration(product.output, ArrayRole::output, loops)};
  nest.body = {std::move(node)};
  return nest;
}

}  // namespace

LoopNest recognise_product(const std::vector<Action>& actions, clang::SourceLocation function) {
  const std::size_t index = sole_update(actions, function);
  const Action& update = actions[index];
  const Loops& loops = update.scope.loops;
  const std::vector<MatrixElement>& factors = std::get<Accumulate>(update.content).factors;

  require_three_loops(update);
  const MatrixElement output = output_target(actions, index);
  require_distinct_arrays(output, factors);
  require_same_type(output, factors);
  const Product product = assign_roles(output, factors, loops);
  require_orientation(product);
  require_guards_on_sparse(update.scope.guards, product);
  require_distinct_names(product, loops);
  return build_nest(product, loops, !update.scope.guards.empty());
}

}  // namespace esc::frontend
