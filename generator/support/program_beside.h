// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace esc {

/// The program of that name in the folder of the running one. Throws UserError (status missing_tool) where there is
/// none.
std::filesystem::path program_beside_this(const std::string& name);

}  // namespace esc
