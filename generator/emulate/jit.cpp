// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/jit.h"

#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <mutex>
#include <utility>

#include "generator/emulate/run_passes.h"
#include "generator/support/error.h"

namespace esc {
namespace {

/// LLVM keeps its list of targets for the whole process; it has to be filled before the first use, once.
void initialise_target() {
  static std::once_flag done;
  std::call_once(done, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

/// Collects what the code generator complains about; LLVM's own handler would end the process.
struct CodeGeneratorErrors final : llvm::DiagnosticHandler {
  explicit CodeGeneratorErrors(std::string& errors) : text(errors) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() == llvm::DS_Error) {
      llvm::raw_string_ostream stream(text);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
    }
    return true;
  }
  std::string& text;
};

/// What a text does by itself stays so: functions of a library are there for what it calls alone.
void keep_from_library_calls(llvm::Module& module) {
  for (llvm::Function& function : module) {
    function.addFnAttr("no-builtins");
  }
}

void optimise(llvm::Module& module, Optimisation optimisation) {
  if (optimisation == Optimisation::full) {
    keep_from_library_calls(module);
  }
  run_passes(module, [&](llvm::PassBuilder& builder) {
    if (optimisation == Optimisation::full) {
      return builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2);
    }
    llvm::FunctionPassManager local;
    local.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
    local.addPass(llvm::EarlyCSEPass());
    local.addPass(llvm::SimplifyCFGPass());
    llvm::ModulePassManager passes;
    passes.addPass(llvm::GlobalDCEPass());
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(local)));
    return passes;
  });
}

llvm::orc::JITTargetMachineBuilder target_machine(const llvm::Module& module, Optimisation optimisation) {
  llvm::orc::JITTargetMachineBuilder builder(module.getTargetTriple());
  builder.setCPU(module.getTargetTriple().getArch() == llvm::Triple::x86_64 ? "x86-64" : "generic");
  builder.setRelocationModel(llvm::Reloc::PIC_);
  builder.setCodeModel(llvm::CodeModel::Small);
  builder.setCodeGenOptLevel(optimisation == Optimisation::full ? llvm::CodeGenOptLevel::Default
                                                                : llvm::CodeGenOptLevel::None);
  return builder;
}

/// A symbol of the module that others can see; empty where there is none.
std::string first_definition(const llvm::Module& module) {
  for (const llvm::GlobalObject& object : module.global_objects()) {
    if (!object.isDeclaration() && object.hasExternalLinkage()) {
      return object.getName().str();
    }
  }
  return {};
}

/// Unwraps `value`; an error becomes the user's, because what a module needs is what its text asks for.
template <class T>
T expect(llvm::Expected<T> value, const std::string& place) {
  if (!value) {
    throw UserError(place, "cannot be made to run on the host: " + llvm::toString(value.takeError()));
  }
  return std::move(*value);
}

void expect(llvm::Error error, const std::string& place) {
  if (error) {
    throw UserError(place, "cannot be made to run on the host: " + llvm::toString(std::move(error)));
  }
}

}  // namespace

JitCode::JitCode(std::unique_ptr<llvm::Module> module, std::unique_ptr<llvm::LLVMContext> context,
                 const std::map<std::string, std::uint64_t>& symbols, Optimisation optimisation) {
  initialise_target();
  const std::string place = module->getSourceFileName();
  std::string errors;
  context->setDiagnosticHandler(std::make_unique<CodeGeneratorErrors>(errors));
  llvm::StripDebugInfo(*module);
  optimise(*module, optimisation);

  const std::string first = first_definition(*module);
  llvm::orc::LLJITBuilder builder;
  builder.setJITTargetMachineBuilder(target_machine(*module, optimisation));
  builder.setLinkProcessSymbolsByDefault(false);
  builder.setPlatformSetUp(llvm::orc::setUpInactivePlatform);
  jit_ = expect(builder.create(), place);
  // A link error reaches us through the look-up; the session would print it as well.
  jit_->getExecutionSession().setErrorReporter([](llvm::Error error) { llvm::consumeError(std::move(error)); });

  llvm::orc::SymbolMap map;
  for (const auto& [name, address] : symbols) {
    map[jit_->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr(address), llvm::JITSymbolFlags::Exported};
  }
  llvm::orc::JITDylib& library = jit_->getMainJITDylib();
  expect(library.define(llvm::orc::absoluteSymbols(std::move(map))), place);
  expect(jit_->addIRModule({std::move(module), llvm::orc::ThreadSafeContext(std::move(context))}), place);
  if (!first.empty()) {
    // One look-up compiles the whole module, while `errors` is there to collect.
    expect(jit_->lookup(first), place);
  }
  if (!errors.empty()) {
    throw UserError(place, "cannot be made to run on the host: " + errors);
  }
}

JitCode::JitCode(JitCode&&) noexcept = default;
JitCode& JitCode::operator=(JitCode&&) noexcept = default;
JitCode::~JitCode() = default;

std::uint64_t JitCode::address(const std::string& symbol) const {
  auto found = jit_->lookup(symbol);
  if (!found) {
    llvm::consumeError(found.takeError());
    return 0;
  }
  return found->getValue();
}

}  // namespace esc
