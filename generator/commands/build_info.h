// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace esc {

/// What --version says: the version in the first line, then the commit and what the program was built with. Nothing of
/// it but the version is in anything that is generated. `llvm` is the version that the program links, empty where
/// it links none.
std::string build_info(const std::string& program, const std::string& llvm);

}  // namespace esc
