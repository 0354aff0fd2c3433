// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "generator/emit/packed_access.h"
#include "generator/ir/loop_nest.h"

namespace esc {

/// A kernel's text and the device functions that it calls, not yet formatted. The grid becomes blockIdx, warps, lanes
/// and threads threadIdx, each case of a switch a device function, and an instruction the call of its text.
/// All kernels of a text declare its shared memory in one way, aligned as the main one has it. Throws Defect for a nest
/// that is not in its final form.
struct KernelText {
  std::string functions;
  std::string kernel;
};
KernelText print_kernel(const LoopNest& nest, const std::string& name, const PackedAccess& packed,
                        int shared_alignment);

/// At multiples of how many bytes the shared memory of a nest's blocks begins.
int shared_alignment(const LoopNest& nest);

/// The sizes that the kernel of a nest is given, in the order of its parameters, after N.
std::vector<std::string> kernel_sizes(const LoopNest& nest);

/// The constant that is the leading dimension of B or C where the kernel is tuned.
std::string tuned_leading_dimension(const ArrayDeclaration& array);

/// Whether blocks of the nest's kernel share work in clusters.
bool has_clusters(const LoopNest& nest);

/// Whether the nest reads B: one that only prepares C for another does not.
bool reads_b(const LoopNest& nest);

}  // namespace esc
