// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

// What steps refuse. All throw ScheduleError, with the directive as its place.

/// Says which rule is broken, where one is, and how to keep it.
void refuse_if(bool broken, const Directive& directive, const std::string& rule, const std::string& remedy);

/// The remedy of a value that is illegal.
std::string nearest(std::int64_t value);

/// Unless 1 <= value <= most; names the nearest that is. `of_what` may say what the most is a part of.
void check_between(const Directive& directive, const std::string& what, std::int64_t value, std::int64_t most,
                   const std::string& of_what = "");

/// Unless the value, 1 or more, is a power of two; names the nearest smaller one.
void check_power_of_two(const Directive& directive, const std::string& what, std::int64_t value);

/// Unless `array` is a sparse array of the nest.
void check_sparse(const LoopNest& nest, const Directive& directive, const std::string& array);

/// The sequential loop over `iterator`, unless there is none of this role (row or column) for the purpose. `where` says
/// what the block is.
const Loop& loop_of_role(const Block& block, const std::string& iterator, Role role, const Directive& directive,
                         const std::string& purpose = "map to the grid", const std::string& where = "the nest");

}  // namespace esc
