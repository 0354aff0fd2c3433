// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"
#include "generator/matrix/sparse_matrix.h"

namespace esc::tests {

/// What a bundle that is made faulty is generated from.
struct MutationSubject {
  std::string name;
  LoopNest nest;
  SparseMatrix matrix;
  std::int64_t bcol;
  std::string schedule;
};

/// All families, element types and variants of their kernels, a script that is of none; and epilogues, transposed
/// operands, batches and convolutions.
std::vector<MutationSubject> mutation_subjects();

/// Writes the bundle of a subject, DIR/NAME, as `escgen generate` would, but verifies nothing.
void write_bundle_of(const MutationSubject& subject, const std::filesystem::path& folder);

}  // namespace esc::tests
