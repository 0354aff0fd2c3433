// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace esc {

/// The text of a kernel with calls in place of its inline PTX, which no compiler for the host takes:
///
///     asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(b) : "r"(address));
///     __esc_ldmatrix<0>(                                                      (b) ,    (address));
///
/// Operands stay in their lines, and in their columns unless the statement begins on a line too short for the name.
/// What is known is a list: the whole text of an instruction, blanks aside, with its constraints; "memory" may be the
/// only clobber. Throws UserError with the line for every other `asm`, also where it would never run: an unknown one
/// must reach no compiler. What the text hides (by pasting tokens, or as __asm__) `instrument` refuses. `file_name` is
/// as it shall are in messages; lines count as #line says.
std::string translate_inline_ptx(const std::string& text, const std::string& file_name);

}  // namespace esc
