// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/staged_copies.h"

#include <algorithm>
#include <utility>

#include "generator/ir/build.h"

namespace esc {

std::string staged_name(const std::string& array) { return "Staged" + array; }

std::vector<ArrayDeclaration> staged_copies(const LoopNest& nest, const std::vector<std::string>& arrays,
                                            const std::array<Affine, 2>& outer_extents, const std::string& record) {
  std::vector<ArrayDeclaration> copies;
  for (const std::string& array : arrays) {
    ArrayDeclaration copy = *nest.find_array(array);
    copy.name = staged_name(array);
    std::ranges::copy(outer_extents, copy.extents.begin());
    copy.role = ArrayRole::shared;
    copy.record = record;
    copies.push_back(std::move(copy));
  }
  return copies;
}

Node early_loop(Block body) {
  return sequential_loop("s", 0, Affine::of("early_stages"), 1, Role::none, std::move(body));
}

Node commit_copies() { return perform("commit_copies", {}); }

}  // namespace esc
