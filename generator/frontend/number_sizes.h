// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/frontend/given_sizes.h"

namespace clang {
class FunctionDecl;
}

namespace esc::frontend {

/// The numbers of the function's parameters that are given, by their names and by the extents of its weights. Throws
/// UserError where the function has no such parameter, where one would be two numbers, and where the weights are
/// declared otherwise.
Environment number_sizes(const clang::FunctionDecl& function, const GivenSizes& given);

}  // namespace esc::frontend
