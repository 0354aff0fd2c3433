// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/host_pass.h"

#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>

#include <utility>

#include "generator/emulate/module_facts.h"
#include "generator/emulate/run_passes.h"
#include "generator/support/error.h"

namespace esc {
namespace {

void remove_unused(llvm::Module& module) {
  run_passes(module, [](llvm::PassBuilder&) {
    llvm::ModulePassManager passes;
    passes.addPass(llvm::GlobalDCEPass());
    return passes;
  });
}

void hide(llvm::GlobalObject& object) {
  object.setComdat(nullptr);
  object.setVisibility(llvm::GlobalValue::DefaultVisibility);
  object.setLinkage(llvm::GlobalValue::InternalLinkage);
}

void show(llvm::GlobalObject& object) {
  object.setComdat(nullptr);
  object.setLinkage(llvm::GlobalValue::ExternalLinkage);
}

/// Leaves of the module what host code has: kernels become declarations.
void keep_host_code(llvm::Module& host) {
  const DeviceObjects objects = device_objects(host);
  drop_annotations(host);
  for (llvm::Function* kernel : objects.kernels) {
    kernel->deleteBody();
    show(*kernel);
  }
  for (llvm::GlobalObject* object : objects.others) {
    if (!object->isDeclaration()) {
      hide(*object);
    }
  }
  remove_unused(host);
}

/// Leaves of the module its kernels, what they use, and the annotated variables.
void keep_device_code(llvm::Module& device) {
  for (llvm::GlobalObject& object : device.global_objects()) {
    if (!object.isDeclaration() && !object.getName().starts_with("llvm.") && !object.hasLocalLinkage()) {
      hide(object);
    }
  }
  for (llvm::Function* kernel : device_objects(device).kernels) {
    show(*kernel);
  }
  remove_unused(device);
}

}  // namespace

std::unique_ptr<llvm::Module> join_passes(std::unique_ptr<llvm::Module> device, std::unique_ptr<llvm::Module> host) {
  keep_host_code(*host);
  keep_device_code(*device);
  const bool failed = llvm::Linker::linkModules(*device, std::move(host));
  ESC_CHECK(!failed, "the functions of a text's two compilations have the same types");
  return device;
}

}  // namespace esc
