// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"

namespace esc {

// What steps put nests together from, without the guards, offsets and mappings that most parts do not have.

/// The element of the array, the part that fewer subscripts choose, or all of it.
Access element(const std::string& array, const std::vector<Affine>& subscripts = {});

/// The action without a guard.
Node statement(decltype(Statement::action) action);
Node define(const std::string& name, Expression value, ScalarType type = ScalarType::i32);
Node perform(const std::string& instruction, std::vector<Expression> arguments, std::vector<std::string> results = {});

/// for (iterator = lower; iterator < upper; iterator += step), one iteration after the other.
Node sequential_loop(const std::string& iterator, const Affine& lower, const Affine& upper, const Affine& step,
                     Role role, Block body);
/// for (iterator = 0; iterator < extent; iterator++), run by whom the mapping names, or written out.
Loop mapped_loop(Mapping mapping, const std::string& iterator, const Affine& extent, Role role, Block body = {});
Node unrolled_loop(const std::string& iterator, const std::string& extent, Role role, Block body);
/// The same of so many iterations, whose variable has no role.
Node unrolled(const std::string& iterator, int count, Block body);

/// The product with another factor in this place.
Expression with_factor(const Expression& product, std::size_t place, const Expression& factor);

/// Puts nodes before the one that is `at` a place, or after the last.
void insert(Block& block, std::size_t at, const Block& more);
void append(Block& block, const Block& more);

}  // namespace esc
