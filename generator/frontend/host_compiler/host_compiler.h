// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace esc {

/// A header that exists only in memory. `name` is what is between the angle brackets of its #include.
struct VirtualHeader {
  std::string name;
  std::string text;
};

/// A variable annotated so (`__attribute__((annotate("esc_shared")))`) is one for all threads of a block. The module
/// holds it in a section of this name; where it is local and not extern, it has static storage there.
inline constexpr const char* kSharedSection = "esc_shared";

/// Where a header of `HostSource::headers` is in debug information: the name follows this prefix.
inline constexpr std::string_view kVirtualHeaderFolder = "/virtual/include/";

/// A function annotated so is a kernel.
inline constexpr const char* kKernelMark = "esc_kernel";

/// One C++17 text to compile for the machine this program runs on.
struct HostSource {
  std::string text;
  std::string file_name;               ///< as it shall are in diagnostics
  std::vector<VirtualHeader> headers;  ///< all that there are: no file of this machine can be included
  std::vector<std::string> defines;    ///< each NAME or NAME=VALUE
  bool empties_kernels = false;        ///< whether kernels lose their bodies: host code calls them by their names alone
};

/// Compiles `source` to a module that no optimisation has touched, with line tables, without contraction of a*b+c, for
/// the baseline of the host's architecture, so that its results are the same on every machine.
/// Throws UserError with every diagnostic (file:line:column) when the text is not valid, or spells attributes.
std::unique_ptr<llvm::Module> compile_for_host(const HostSource& source, llvm::LLVMContext& context);

}  // namespace esc
