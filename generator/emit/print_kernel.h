#pragma once

#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"

namespace esc {

/// What the text of a kernel needs beside its nest: how the packed matrix is read.
struct PackedAccess {
  /// An array of the packed matrix and where it starts: "Cols", "unsigned short",
  /// "reinterpret_cast<const unsigned short*>(packed + Cols_at)".
  struct Section {
    std::string array;
    std::string type;
    std::string place;
  };

  std::vector<std::string> constants;  ///< lines of the text
  std::vector<Section> sections;
  std::string offset_type = "int";     ///< of positions in sections
};

/// A kernel's text and the device functions that it calls, not yet formatted. The grid becomes blockIdx, warps, lanes and
/// threads threadIdx, each case of a switch a device function, and an instruction the call of its text.
/// Throws Defect for a nest that is not in its final form.
struct KernelText {
  std::string functions;
  std::string kernel;
};
KernelText print_kernel(const LoopNest& nest, const std::string& name, const PackedAccess& packed);

/// The sizes that the kernel of a nest is given, in the order of its parameters, behind N.
std::vector<std::string> kernel_sizes(const LoopNest& nest);

/// Names of the instructions that are performed, each once, in the order of all_instructions.
std::vector<std::string> performed_instructions(const LoopNest& nest);

/// Whether the nest reads B: one that only prepares C for another does not.
bool reads_b(const LoopNest& nest);

}  // namespace esc
