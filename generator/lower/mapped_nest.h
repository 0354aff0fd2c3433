#pragma once

#include <string>

#include "generator/ir/loop_nest.h"

namespace esc {

/// Lanes of a warp.
inline constexpr int warp_size = 32;

/// const int name = value, without a guard; or of another type.
Node define(const std::string& name, Expression value, ScalarType type = ScalarType::i32);

/// The nest after the mapping to blocks and threads: grid > [warps >] lanes > definitions, then one switch over patterns.
/// What the steps after the mapping have in common: getting at the definitions and the cases.
struct ThreadBody {
  Block definitions;
  Switch choice;
};

/// 0 < count: the enumerated columns of a case are not none. Coarsening guards its adds with it; the data transformation,
/// which keeps no empty lists, drops it.
Expression has_columns();

/// The body that each thread runs. Throws ScheduleError (place `step`) when the nest is not mapped to blocks and lanes.
ThreadBody thread_body(const LoopNest& nest, const std::string& step);

/// The nest with another body for each thread.
LoopNest with_thread_body(const LoopNest& nest, const ThreadBody& body);

}  // namespace esc
