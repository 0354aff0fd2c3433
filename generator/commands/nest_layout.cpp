// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/nest_layout.h"

#include <initializer_list>

#include "generator/support/error.h"

namespace esc {

NestLayout parse_layout(const std::string& name) {
  for (const NestLayout layout : {NestLayout::kn, NestLayout::nk}) {
    if (name == name_of(layout)) {
      return layout;
    }
  }
  throw UserError(
      "--layout " + name, "is neither kn nor nk",
      "use kn for B (K x N) and C (M x N), nk for both transposed, or give a nest of your own with --kernel");
}

const char* name_of(NestLayout layout) { return layout == NestLayout::kn ? "kn" : "nk"; }

}  // namespace esc
