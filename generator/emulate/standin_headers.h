// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/frontend/host_compiler/host_compiler.h"

namespace esc {

// The headers under include/, as they were when this program was built.

/// What the text of a kernel may include.
std::vector<VirtualHeader> cuda_headers();
/// What the text of a data-transformer may include.
std::vector<VirtualHeader> library_headers();

}  // namespace esc
