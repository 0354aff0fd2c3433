// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/ir/loop_nest.h"

namespace esc {

/// An input nest, as written or with roles, as a C function of its sizes and arrays, which the front end reads back as
/// the same nest. Sizes that are numbers are no parameters. Of a nest that goes over the stored elements of its sparse
/// array it is that one.
std::string print_function(const LoopNest& nest_with_roles);

}  // namespace esc
