// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace esc {

/// Refuses a text that one compiler may take otherwise than another: what an emulation shows of it would not be what nvcc
/// compiles. `generated` is the text that the generator emits in its place. The text may be another program, but it must
///   - include nothing that `generated` does not include;
///   - have no directives of its own: no macros, and no other conditional parts than those of `generated`, token for token;
///     only what stands between #ifndef __CUDACC_RTC__ and its #endif may differ, because both compilers take it;
///   - use no reserved names but those of `generated` and of CUDA, no assembly but instructions that `generated` has, no
///     attributes, and plain ASCII.
/// Throws UserError (status check_failed) with the line.
void check_text(const std::string& file, const std::string& text, const std::string& generated);

}  // namespace esc
