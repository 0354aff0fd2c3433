// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace esc::frontend {

/// The folder that has Clang's own headers (stddef.h and the like) in its folder include: that of the LLVM which this
/// was built with or, where it is not on the machine, the one that was brought along with the program, in
/// ../lib/esc/clang.
const std::string& clang_folder();

}  // namespace esc::frontend
