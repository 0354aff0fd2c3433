// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace llvm {
class Module;
}

namespace esc {

/// Is before a read that the inliner may do away with: (address, note).
inline constexpr const char* kReadAsWritten = "__esc_read_as_written";

/// Inlines what a GPU's compiler inlines, and is a note before each read of what is not known to be local: the
/// inliner computes what it copies where operands are constants, so that of a constant table it takes the element, and
/// nothing where that is out of bounds.
void inline_helpers(llvm::Module& module);

/// Scalars of functions become values in registers.
void promote_locals(llvm::Module& module);

}  // namespace esc
