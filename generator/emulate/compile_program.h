// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "generator/emulate/host_program.h"

namespace esc {

/// What a text is compiled with.
struct ProgramOptions {
  std::vector<VirtualHeader> headers;  ///< further headers that the text includes
  std::vector<std::string> defines;    ///< NAME or NAME=VALUE
};

/// What a text of CUDA C++ is to the compiler of this machine: its PTX calls functions, and its headers are small ones
/// that are part of this program. Throws UserError for PTX that has no meaning here.
HostSource cuda_source(const std::string& text, const std::string& file_name, const ProgramOptions& options = {});
/// The same of C++17 that includes nothing but <stddef.h>, <stdint.h>, <stdio.h> and <string.h>.
HostSource host_source(const std::string& text, const std::string& file_name, const ProgramOptions& options = {});

/// Compiles CUDA C++: a text that includes <cuda_runtime.h> and launches through cudaLaunchKernelEx. No toolkit is
/// used; its headers are replaced by small ones that are part of this program. Host code sees no __CUDA_ARCH__, and
/// none of `options.defines` that begins so. Throws UserError with file:line:column for a text that does not compile or
/// uses a symbol that nobody defines.
HostProgram compile_cuda(const std::string& text, const std::string& file_name, const ProgramOptions& options = {});

/// Compiles C++17, a text of which `host_source` speaks.
HostProgram compile_host(const std::string& text, const std::string& file_name, const ProgramOptions& options = {},
                         Watched watched = Watched::accesses);

}  // namespace esc
