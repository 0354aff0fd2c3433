// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace esc {

/// What an instruction needs beside its text, and what is called in its place.
struct PtxInstruction {
  std::vector<std::string> outputs;  ///< constraints
  std::vector<std::string> inputs;
  std::string call;
  bool needs_memory = false;  ///< whether it must have the clobber "memory": it orders accesses that it does not name
};

/// By their whole texts, each blank one space.
using PtxInstructions = std::map<std::string, PtxInstruction, std::less<>>;

/// All that a kernel may have as inline PTX: docs/reference/verification.md lists the same.
const PtxInstructions& ptx_instructions();

/// Whether it is a function of its operands alone, which may be moved. What reads memory must stay where it is.
bool is_pure_ptx(std::string_view instruction);

}  // namespace esc
