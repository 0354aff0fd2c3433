// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/epilogue_operands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "generator/ir/print.h"
#include "generator/lower/epilogue_steps.h"

namespace esc {

Access EpilogueOperands::read(const Access& access, const NestPart& part, const Position& position) {
  require_no_factor(access, part);
  const ArrayDeclaration& declared = *nest_.find_array(access.array);
  ArrayDeclaration operand{
      access.array, {}, declared.values.empty() ? ArrayRole::operand : ArrayRole::table, declared.type};
  operand.values = declared.values;
  if (operand.type != output().type && operand.type != sum_type(output().type)) {
    refuse(part, "{} holds {}, {} holds {}: expected the same type", access.array, nest_name(operand.type),
           output_.array, nest_name(output().type));
  }
  const Position loops = loops_over(access, part, position);
  for (const Loop* loop : loops) {
    operand.extents.push_back(loop->upper);
  }
  if (operand.extents.empty()) {
    operand.type = sum_type(operand.type);  // a caller hands it over as a number to compute with
  }
  const Access element = element_at(loops, access.array);
  const auto [known, is_new] = found_.emplace(access.array, std::pair(element, operand));
  if (!is_new && known->second.first != element) {
    refuse(part, "{} is also read as {} in what {} becomes: expected one of them", print(access),
           print(known->second.first), output_.array);
  }
  require_declared(access, part, loops);
  if (is_new) {
    accesses_.emplace_back(element, part);
  }
  return element;
}

std::vector<ArrayDeclaration> EpilogueOperands::declared_of(const Epilogue& epilogue) const {
  std::vector<ArrayDeclaration> declared;
  const auto add = [&](const Expression& part) {
    const Access* access = part.access();
    if (access != nullptr && std::ranges::find(declared, access->array, &ArrayDeclaration::name) == declared.end()) {
      declared.push_back(found_.at(access->array).second);
    }
  };
  for (const Define& step : epilogue.steps) {
    for_each_operand(step.value, add);
  }
  for_each_operand(epilogue.value, add);
  std::ranges::sort(declared, {}, [&](const ArrayDeclaration& operand) {
    return std::ranges::find(nest_.arrays, operand.name, &ArrayDeclaration::name) - nest_.arrays.begin();
  });
  return declared;
}

void EpilogueOperands::require_no_factor(const Access& access, const NestPart& part) const {
  for (const Expression& factor : factors(product())) {
    if (factor.access() != nullptr && factor.access()->array == access.array) {
      refuse(part, "{} is a factor of the product: expected another array in what {} becomes", access.array,
             output_.array);
    }
  }
}

void EpilogueOperands::require_declared(const Access& access, const NestPart& part, const Position& loops) const {
  const std::vector<Affine>& declared = nest_.find_array(access.array)->extents;
  for (std::size_t dimension = 0; dimension < loops.size(); ++dimension) {
    if (declared.at(dimension) != loops[dimension]->upper && !nest_.find_array(access.array)->values.empty()) {
      refuse(part, "{}, but {} are {} and loop {} runs to {}", table_of_rows(access.array), access.array,
             print(declared[dimension]), loops[dimension]->iterator, print(loops[dimension]->upper));
    }
    if (declared.at(dimension) != loops[dimension]->upper) {
      refuse(part, "{} is declared with {} elements in dimension {}, but loop {} runs to {}: expected the same",
             access.array, print(declared[dimension]), dimension + 1, loops[dimension]->iterator,
             print(loops[dimension]->upper));
    }
  }
}

/// The loops of the product that stand for those by which the access is indexed.
Position EpilogueOperands::loops_over(const Access& access, const NestPart& part, const Position& position) const {
  const Position product = of_product();
  Position loops;
  for (const Subscript& subscript : access.subscripts) {
    const auto loop =
        std::ranges::find_if(position, [&](const Loop* one) { return subscript.affine.is_name(one->iterator); });
    if (loop == position.end()) {
      refuse_operand(access, part, position);
    }
    loops.push_back(product[static_cast<std::size_t>(loop - position.begin())]);
  }
  if (!indexes_whole_matrices(loops)) {
    refuse_operand(access, part, position);
  }
  return loops;
}

/// The loops of the product, of those over the output, that index one of the factors; with those of groups, which index
/// both, or without.
Position EpilogueOperands::shared_with(const Expression& factor, bool with_groups) const {
  const auto is_indexed = [](const Expression& one, const Loop* loop) {
    return one.access() != nullptr && std::ranges::any_of(one.access()->subscripts, [&](const Subscript& subscript) {
             return subscript.affine.mentions(loop->iterator);
           });
  };
  const std::vector<Expression> both = factors(product());
  Position shared = of_product();
  std::erase_if(shared, [&](const Loop* loop) {
    const bool is_group = std::ranges::all_of(both, [&](const Expression& one) { return is_indexed(one, loop); });
    return !is_indexed(factor, loop) || (is_group && !with_groups);
  });
  return shared;
}

/// Whether groups are named with this factor's loops, as rows: its zeros are left out, or it is the first one.
bool EpilogueOperands::is_meant_as_rows(const Expression& factor) const {
  const auto is_guarded = [&](const Expression& one) {
    return std::ranges::any_of(update_.statement->guard,
                               [&](const Expression& guard) { return guard == is_nonzero(one); });
  };
  const std::vector<Expression> both = factors(product());
  const auto guarded = std::ranges::find_if(both, is_guarded);
  return factor == (guarded != both.end() ? *guarded : both.front());
}

/// Whether the loops are none, all that one of the factors shares with the output, or all over the output, each once.
/// Whether groups belong to the factor is asked when it is known which one is sparse.
bool EpilogueOperands::indexes_whole_matrices(Position loops) const {
  std::ranges::sort(loops);
  const auto is_all_of = [&](Position others) {
    std::ranges::sort(others);
    return loops == others;
  };
  return loops.empty() || is_all_of(of_product()) ||
         std::ranges::any_of(factors(product()), [&](const Expression& factor) {
           return is_all_of(shared_with(factor, true)) || is_all_of(shared_with(factor, false));
         });
}

void EpilogueOperands::refuse_operand(const Access& access, const NestPart& part, const Position& position) const {
  const Position over_output = of_product();
  // What belongs together is named in the order of the output's subscripts.
  std::vector<std::string> expected;
  for (const Expression& factor : factors(product())) {
    const Position shared = shared_with(factor, is_meant_as_rows(factor));
    Position here;
    for (std::size_t dimension = 0; dimension < over_output.size(); ++dimension) {
      if (std::ranges::find(shared, over_output[dimension]) != shared.end()) {
        here.push_back(position[dimension]);
      }
    }
    const bool is_first = !here.empty() && here.front() == position.front();
    expected.insert(is_first ? expected.begin() : expected.end(), print(element_at(here, access.array)));
  }
  refuse(part, "{} has a part in what {} becomes: expected a number, {} or {}", print(access), output_.array,
         fmt::join(expected, ", "), print(element_at(position, access.array)));
}

}  // namespace esc
