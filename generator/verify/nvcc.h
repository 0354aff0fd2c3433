// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "generator/emit/manifest.h"

namespace esc {

/// nvcc on the PATH or in /usr/local/cuda/bin; empty when there is none.
std::filesystem::path find_nvcc();

/// Compiles the .cu and the transformer of the bundle in `folder` for the GPU of this machine, into a shared library in
/// `output`, which may be the same folder. Throws UserError: status missing_tool without nvcc, check_failed with its
/// messages when it refuses the text.
std::filesystem::path compile_bundle(const std::filesystem::path& folder, const std::string& name,
                                     const std::filesystem::path& output);

/// The same with the text of the predecessor.
std::filesystem::path compile_predecessor(const std::filesystem::path& output);

/// What the kernels of a CUDA text need on each architecture, as ptxas reports it; the text must compile without a
/// warning. Throws as compile_bundle does.
std::vector<KernelResources> kernel_resources(const std::string& kernel_text, const std::string& name,
                                              const std::vector<int>& architectures);

/// The kernels in the report of `ptxas -v`, named as in the source with their template arguments left out.
std::vector<KernelResources> parse_ptxas_report(const std::string& report, const std::string& kernel_name);

}  // namespace esc
