// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace esc {

/// To be called once, before anything of Clang and LLVM is used: where LLVM would print a message of its own and abort,
/// the program ends with one line and an exit status. Memory that has run out is thrown as std::bad_alloc.
void take_llvm_failures();

}  // namespace esc
