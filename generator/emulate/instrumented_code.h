// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llvm/IR/DerivedTypes.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace llvm {
class Function;
class Instruction;
class Module;
}  // namespace llvm

namespace esc {

/// Whether instrumentation leaves a function as it is.
bool is_left_alone(const llvm::Function& function);
/// The others of a module, and all instructions of one, as they are now: what is added while they are gone through is
/// not among them.
std::vector<llvm::Function*> instrumented_functions(llvm::Module& module);
std::vector<llvm::Instruction*> instructions_of(llvm::Function& function);

/// Declares a hook. It may end the thread, so nothing that follows it in the text may be done before it; it touches no
/// memory that the text can see, so values may stay in registers across it.
llvm::FunctionCallee hook_of(llvm::Module& module, const std::string& name,
                             std::initializer_list<llvm::Type*> parameters);

}  // namespace esc
