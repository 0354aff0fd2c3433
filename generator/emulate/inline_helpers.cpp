// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/inline_helpers.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "generator/emulate/access_note.h"
#include "generator/emulate/instrumented_code.h"
#include "generator/emulate/run_passes.h"

namespace esc {
namespace {

/// A function is inlined while all its copies together stay below this many instructions.
constexpr std::size_t kInlineBudget = 20000;

/// Lets the inliner take every helper, as a GPU's compiler does: what a helper writes through a reference to a local
/// variable of its caller is then known to be local. Promises that memory may be read early are withdrawn, because an
/// access that the text does not make must not be reported.
void prepare_inlining(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Argument& argument : function.args()) {
      argument.removeAttr(llvm::Attribute::Dereferenceable);
      argument.removeAttr(llvm::Attribute::DereferenceableOrNull);
    }
    if (is_left_alone(function) || function.hasFnAttribute(llvm::Attribute::NoInline)) {
      continue;
    }
    if (function.getInstructionCount() * std::max<std::size_t>(function.getNumUses(), 1) <= kInlineBudget) {
      function.addFnAttr(llvm::Attribute::AlwaysInline);
    }
  }
}

template <class Pass>
void run_pass(llvm::Module& module, Pass pass) {
  run_passes(module, [&](llvm::PassBuilder&) {
    llvm::ModulePassManager passes;
    passes.addPass(std::move(pass));
    return passes;
  });
}

void note_read(llvm::Module& module, llvm::LoadInst& load) {
  llvm::Value* pointer = load.getPointerOperand();
  if (load.isAtomic()) {
    load.setVolatile(true);  // so that it stays as it is
  } else if (!load.isVolatile() && !llvm::isa<llvm::AllocaInst>(pointer)) {
    llvm::IRBuilder<> builder(&load);
    const std::uint64_t bytes = module.getDataLayout().getTypeStoreSize(load.getType()).getFixedValue();
    builder.CreateCall(hook_of(module, kReadAsWritten, {builder.getPtrTy(), builder.getInt64Ty()}),
                       {pointer, builder.getInt64(AccessNote::pack(bytes, llvm::Log2(load.getAlign()), 0))});
  }
}

void note_reads(llvm::Module& module) {
  for (llvm::Function* function : instrumented_functions(module)) {
    for (llvm::Instruction* instruction : instructions_of(*function)) {
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction)) {
        note_read(module, *load);
      }
    }
  }
}

}  // namespace

void inline_helpers(llvm::Module& module) {
  prepare_inlining(module);
  // What is promoted before it is copied is copied by half.
  promote_locals(module);
  note_reads(module);
  run_pass(module, llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
}

void promote_locals(llvm::Module& module) {
  run_pass(module, llvm::createModuleToFunctionPassAdaptor(llvm::PromotePass()));
}

}  // namespace esc
