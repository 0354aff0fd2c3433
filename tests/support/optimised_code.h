// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/frontend/host_compiler/host_compiler.h"

namespace esc::tests {

/// What an optimising compiler makes of a text: LLVM's intermediate code after -O2, without the names of values and
/// the places of lines. Texts of one code do the same, whatever they are called with; the other way round need not
/// hold. Throws UserError for a text that does not compile.
std::string optimised_code(const HostSource& source);

}  // namespace esc::tests
