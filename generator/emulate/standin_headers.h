#pragma once

#include <vector>

#include "generator/frontend/host_compiler/host_compiler.h"

namespace esc {

/// The headers under include/, as they were when this program was built.
std::vector<VirtualHeader> standin_headers();

}  // namespace esc
