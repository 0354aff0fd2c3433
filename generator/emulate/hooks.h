// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace esc {

/// The address of the function that answers `name`: a hook of instrumented code, a device function of the stand-in
/// headers, or a function of the CUDA runtime. 0 where there is none.
std::uint64_t resolve_hook(const std::string& name);

}  // namespace esc
