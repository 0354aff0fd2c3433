// SPDX-License-Identifier: Apache-2.0
#include "tests/support/optimised_code.h"

#include <fmt/format.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include <cstddef>
#include <map>
#include <memory>

#include "generator/emulate/module_facts.h"
#include "generator/emulate/run_passes.h"

namespace esc::tests {
namespace {

/// What a function is called with may say that it does nothing, whoever wants it apart.
void inline_everything(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (!function.isDeclaration() && function.hasLocalLinkage() && !function.hasAddressTaken()) {
      function.removeFnAttr(llvm::Attribute::NoInline);
      function.addFnAttr(llvm::Attribute::AlwaysInline);
    }
  }
}

/// What a launch depends on beside the code.
std::string launches_of(const ModuleFacts& facts) {
  std::string text;
  for (const KernelFacts& kernel : facts.kernels) {
    text += fmt::format("{} {} {}\n", kernel.symbol, kernel.max_threads.value_or(0), kernel.static_shared);
  }
  for (const SharedFacts& variable : facts.shared) {
    text += fmt::format("{} {} {}\n", variable.symbol, variable.bytes, variable.alignment);
  }
  return text;
}

void optimise(llvm::Module& module) {
  run_passes(module, [](llvm::PassBuilder& builder) {
    return builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2);
  });
}

/// Whether the first two operands may be exchanged: a sum, a product, a fused multiply-add.
bool is_commutative(const llvm::Instruction& instruction) {
  const auto* const call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call != nullptr ? call->isCommutative()
                         : llvm::isa<llvm::BinaryOperator>(instruction) && instruction.isCommutative();
}

/// Of two factors the one that is computed first is first.
void order_operands(llvm::Function& function) {
  std::map<const llvm::Value*, std::size_t> numbers;
  for (const llvm::Argument& argument : function.args()) {
    numbers.emplace(&argument, numbers.size());
  }
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    numbers.emplace(&instruction, numbers.size());
  }
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (is_commutative(instruction)) {
      const auto first = numbers.find(instruction.getOperand(0));
      const auto second = numbers.find(instruction.getOperand(1));
      if (first != numbers.end() && second != numbers.end() && second->second < first->second) {
        llvm::Value* const later = instruction.getOperand(0);
        instruction.setOperand(0, instruction.getOperand(1));
        instruction.setOperand(1, later);
      }
    }
  }
}

/// Those of values, which count what was dropped on the way.
void drop_names(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Argument& argument : function.args()) {
      argument.setName({});
    }
    for (llvm::BasicBlock& block : function) {
      block.setName({});
      for (llvm::Instruction& instruction : block) {
        instruction.setName({});
      }
    }
  }
}

}  // namespace

std::string optimised_code(const HostSource& source) {
  llvm::LLVMContext context;
  const std::unique_ptr<llvm::Module> module = compile_for_host(source, context);
  std::string code = launches_of(take_facts(*module));
  llvm::StripDebugInfo(*module);
  inline_everything(*module);
  optimise(*module);
  for (llvm::Function& function : *module) {
    order_operands(function);
  }
  drop_names(*module);
  llvm::raw_string_ostream stream(code);
  module->print(stream, /*AAW=*/nullptr);
  return code;
}

}  // namespace esc::tests
