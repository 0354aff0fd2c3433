// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace esc {

/// Refuses a text of which an emulation would not show what nvcc and g++ build. `generated` is the text that the
/// generator emits in its place. It must have the same tokens, but for what is open in it:
///   - of a kernel's text, the body of the kernel, its device functions, and those constants and types that no host
///   code
///     uses, by name or by way of others: the rest is compiled twice by nvcc, and the emulator has the generated one;
///   - of a data-transformer's, functions, constants and types above `enum Status`, where what its C functions are on
///   begins.
/// What is open may be another program, with functions, constants and types of its own. These must
///   - have names of their own that no header has (own_names.h), and use no others beside those of the generated text's
///     open part, of the language and, in kernels, of CUDA;
///   - keep nothing from one call to the next: no static, thread-local or namespace-scope variables but the generated
///   ones;
///   - have no directives, conditional parts, assembly and forms of numbers but generated ones, no attributes, and
///   plain ASCII.
/// Throws UserError (status check_failed) with the line.
void check_kernel_text(const std::string& file, const std::string& text, const std::string& generated);
void check_transformer_text(const std::string& file, const std::string& text, const std::string& generated);

}  // namespace esc
