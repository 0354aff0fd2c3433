// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/refusals.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "generator/ir/rewrite.h"

namespace esc {

void refuse_if(bool broken, const Directive& directive, const std::string& rule, const std::string& remedy) {
  if (broken) {
    throw ScheduleError(directive, rule, remedy);
  }
}

std::string nearest(std::int64_t value) { return fmt::format("the nearest legal value is {}", value); }

void check_between(const Directive& directive, const std::string& what, std::int64_t value, std::int64_t most,
                   const std::string& of_what) {
  refuse_if(value < 1 || value > most, directive, fmt::format("{}={} is outside 1 to {}{}", what, value, most, of_what),
            nearest(std::clamp<std::int64_t>(value, 1, most)));
}

void check_power_of_two(const Directive& directive, const std::string& what, std::int64_t value) {
  const auto positive = static_cast<std::uint64_t>(value);
  refuse_if(!std::has_single_bit(positive), directive, fmt::format("{}={} is no power of two", what, value),
            nearest(static_cast<std::int64_t>(std::bit_floor(positive))));
}

void check_sparse(const LoopNest& nest, const Directive& directive, const std::string& array) {
  const ArrayDeclaration* found = nest.find_array(array);
  refuse_if(found == nullptr || found->role != ArrayRole::sparse, directive,
            fmt::format("'{}' is not a sparse array of the nest", array), "transform the sparse array, once");
}

const Loop& loop_of_role(const Block& block, const std::string& iterator, Role role, const Directive& directive,
                         const std::string& purpose, const std::string& where) {
  const Loop* loop = find_loop(block, iterator);
  refuse_if(loop == nullptr || loop->role != role, directive,
            fmt::format("there is no {} loop '{}' to {}", role == Role::row ? "row" : "column", iterator, purpose),
            fmt::format("the loops of {} are {}", where, list_iterators(block)));
  return *loop;
}

}  // namespace esc
