// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/instrumented_code.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/ModRef.h>

namespace esc {

bool is_left_alone(const llvm::Function& function) {
  return function.isDeclaration() || function.hasFnAttribute(llvm::Attribute::DisableSanitizerInstrumentation);
}

std::vector<llvm::Function*> instrumented_functions(llvm::Module& module) {
  std::vector<llvm::Function*> functions;
  for (llvm::Function& function : module) {
    if (!is_left_alone(function)) {
      functions.push_back(&function);
    }
  }
  return functions;
}

std::vector<llvm::Instruction*> instructions_of(llvm::Function& function) {
  std::vector<llvm::Instruction*> instructions;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    instructions.push_back(&instruction);
  }
  return instructions;
}

llvm::FunctionCallee hook_of(llvm::Module& module, const std::string& name,
                             std::initializer_list<llvm::Type*> parameters) {
  const bool known = module.getFunction(name) != nullptr;
  llvm::FunctionCallee callee = module.getOrInsertFunction(
      name, llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), llvm::ArrayRef(parameters), false));
  if (!known) {
    auto* function = llvm::cast<llvm::Function>(callee.getCallee());
    function->setDoesNotThrow();
    function->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
    if (function->arg_size() > 0 && function->getArg(0)->getType()->isPointerTy()) {
      function->addParamAttr(0, llvm::Attribute::getWithCaptureInfo(module.getContext(), llvm::CaptureInfo::none()));
    }
  }
  return callee;
}

}  // namespace esc
