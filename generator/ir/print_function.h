#pragma once

#include <string>

#include "generator/ir/loop_nest.h"

namespace esc {

/// An input nest, as written or with roles, as a C function of its sizes and arrays, which the front end reads back as the same nest. Sizes that
/// are numbers are no parameters.
std::string print_function(const LoopNest& nest);

}  // namespace esc
