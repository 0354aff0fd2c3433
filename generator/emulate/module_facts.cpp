// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/module_facts.h"

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instruction.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "generator/emulate/instrument.h"
#include "generator/frontend/host_compiler/host_compiler.h"
#include "generator/support/error.h"

namespace esc {
namespace {

constexpr const char* kAnnotations = "llvm.global.annotations";

/// One annotation: its word, and its arguments that are numbers.
struct Annotation {
  std::string word;
  std::vector<std::uint64_t> arguments = {};
};

using Annotations = std::map<const llvm::GlobalObject*, std::vector<Annotation>>;

Annotations read_annotations(const llvm::Module& module) {
  Annotations found;
  const llvm::GlobalVariable* list = module.getGlobalVariable(kAnnotations);
  if (list == nullptr || !list->hasInitializer()) {
    return found;
  }
  for (const llvm::Use& entry : list->getInitializer()->operands()) {
    const auto* fields = llvm::cast<llvm::ConstantStruct>(entry);
    const auto* object = llvm::cast<llvm::GlobalObject>(fields->getOperand(0)->stripPointerCasts());
    const auto* word = llvm::cast<llvm::GlobalVariable>(fields->getOperand(1)->stripPointerCasts());
    Annotation annotation;
    annotation.word = llvm::cast<llvm::ConstantDataSequential>(word->getInitializer())->getAsCString().str();
    const auto* arguments = llvm::dyn_cast<llvm::GlobalVariable>(fields->getOperand(4)->stripPointerCasts());
    if (arguments != nullptr) {
      const llvm::Constant* values = arguments->getInitializer();
      for (unsigned at = 0; values->getAggregateElement(at) != nullptr; ++at) {
        if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(values->getAggregateElement(at))) {
          annotation.arguments.push_back(number->getZExtValue());
        }
      }
    }
    found[object].push_back(std::move(annotation));
  }
  return found;
}

const Annotation* find(const Annotations& annotations, const llvm::GlobalObject& object, const std::string& word) {
  const auto found = annotations.find(&object);
  if (found == annotations.end()) {
    return nullptr;
  }
  const auto& list = found->second;
  const auto it = std::find_if(list.begin(), list.end(), [&](const Annotation& one) { return one.word == word; });
  return it == list.end() ? nullptr : &*it;
}

/// A name as a person would write it: no parameters, no return type.
std::string plain_name(llvm::StringRef symbol) {
  llvm::ItaniumPartialDemangler demangler;
  const std::string text = symbol.str();
  if (demangler.partialDemangle(text.c_str())) {
    return text;
  }
  char* name =
      demangler.isFunction() ? demangler.getFunctionName(nullptr, nullptr) : demangler.finishDemangle(nullptr, nullptr);
  const std::string result = name == nullptr ? text : name;
  std::free(name);
  return result;
}

/// The name of a variable alone: a local one is "kernel(...)::tile" when demangled.
std::string variable_name(llvm::StringRef symbol) {
  const std::string name = plain_name(symbol);
  const std::size_t scope = name.rfind("::");
  return scope == std::string::npos ? name : name.substr(scope + 2);
}

void collect_functions(const llvm::Value& value, std::set<const llvm::Function*>& functions) {
  for (const llvm::User* user : value.users()) {
    if (const auto* instruction = llvm::dyn_cast<llvm::Instruction>(user)) {
      const llvm::Function* function = instruction->getFunction();
      if (functions.insert(function).second) {
        collect_functions(*function, functions);
      }
    } else if (llvm::isa<llvm::Constant>(user)) {
      collect_functions(*user, functions);
    }
  }
}

bool is_shared(const llvm::GlobalVariable& variable) { return variable.getSection() == kSharedSection; }

bool is_bookkeeping(const llvm::GlobalVariable& variable) {
  return variable.getName().starts_with("llvm.") || variable.getSection() == "llvm.metadata";
}

void expose(llvm::GlobalObject& object) {
  object.setComdat(nullptr);
  object.setLinkage(llvm::GlobalValue::ExternalLinkage);
  object.setVisibility(llvm::GlobalValue::DefaultVisibility);
  object.setDSOLocal(true);
}

SharedFacts take_shared(llvm::GlobalVariable& variable, const llvm::DataLayout& layout) {
  SharedFacts facts;
  facts.symbol = variable.getName().str();
  facts.name = variable_name(variable.getName());
  facts.bytes = variable.isDeclaration() ? 0 : layout.getTypeAllocSize(variable.getValueType()).getFixedValue();
  facts.alignment = variable.getAlign().valueOrOne().value();
  variable.setInitializer(nullptr);
  expose(variable);
  variable.setSection("");
  variable.setDSOLocal(false);
  return facts;
}

GlobalKind kind_of(const llvm::GlobalVariable& variable, const Annotations& annotations) {
  if (find(annotations, variable, "esc_constant") != nullptr) {
    return GlobalKind::constant;
  }
  if (find(annotations, variable, "esc_device") != nullptr) {
    return GlobalKind::device;
  }
  const bool local_constant = variable.isConstant() && variable.getName().starts_with("_ZZ");
  return variable.hasPrivateLinkage() || local_constant ? GlobalKind::compiler : GlobalKind::host;
}

/// Blocks of a kernel's clusters. Throws UserError for clusters that lie otherwise than along x, or that not every GPU
/// has room for.
std::uint32_t take_cluster(const Annotation* dimensions, const std::string& kernel) {
  constexpr std::uint64_t most_blocks = 8;
  if (dimensions == nullptr) {
    return 1;
  }
  const std::vector<std::uint64_t>& sizes = dimensions->arguments;
  const bool along_x =
      !sizes.empty() && std::all_of(sizes.begin() + 1, sizes.end(), [](std::uint64_t size) { return size == 1; });
  if (!along_x || sizes.front() < 1 || sizes.front() > most_blocks) {
    throw UserError("kernel '" + kernel + "'", "has clusters that cannot be run on the host",
                    "give it __cluster_dims__(blocks, 1, 1) with 1 to " + std::to_string(most_blocks) + " blocks");
  }
  return static_cast<std::uint32_t>(sizes.front());
}

}  // namespace

ModuleFacts take_facts(llvm::Module& module) {
  if (module.getGlobalVariable("llvm.global_ctors") != nullptr) {
    throw UserError(module.getSourceFileName(), "a global variable is initialised by code that runs at start-up",
                    "initialise it with a constant");
  }
  const Annotations annotations = read_annotations(module);
  const llvm::DataLayout& layout = module.getDataLayout();
  ModuleFacts facts;
  std::map<const llvm::Function*, std::uint64_t> shared_bytes;
  for (llvm::GlobalVariable& variable : module.globals()) {
    if (is_bookkeeping(variable)) {
      continue;
    }
    if (is_shared(variable)) {
      facts.shared.push_back(take_shared(variable, layout));
      std::set<const llvm::Function*> users;
      collect_functions(variable, users);
      for (const llvm::Function* user : users) {
        shared_bytes[user] += facts.shared.back().bytes;
      }
    } else if (!variable.isDeclaration()) {
      const GlobalKind kind = kind_of(variable, annotations);
      expose(variable);
      facts.globals.push_back({variable.getName().str(), variable_name(variable.getName()),
                               layout.getTypeAllocSize(variable.getValueType()).getFixedValue(), kind});
    }
  }
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || find(annotations, function, kKernelMark) == nullptr) {
      continue;
    }
    const Annotation* bounds = find(annotations, function, "esc_launch_bounds");
    const auto max_threads = bounds == nullptr || bounds->arguments.empty()
                                 ? std::nullopt
                                 : std::optional(static_cast<std::uint32_t>(bounds->arguments.front()));
    const std::string name = plain_name(function.getName());
    const std::uint32_t cluster_blocks = take_cluster(find(annotations, function, "esc_cluster_dims"), name);
    expose(function);
    facts.kernels.push_back({function.getName().str(), name, max_threads, shared_bytes[&function], cluster_blocks});
  }
  drop_annotations(module);
  return facts;
}

DeviceObjects device_objects(llvm::Module& module) {
  const Annotations annotations = read_annotations(module);
  DeviceObjects objects;
  for (llvm::GlobalObject& object : module.global_objects()) {
    if (find(annotations, object, kKernelMark) != nullptr) {
      objects.kernels.push_back(llvm::cast<llvm::Function>(&object));
    } else if (annotations.contains(&object)) {
      objects.others.push_back(&object);
    }
  }
  return objects;
}

void drop_annotations(llvm::Module& module) {
  if (llvm::GlobalVariable* list = module.getGlobalVariable(kAnnotations)) {
    list->eraseFromParent();
  }
}

std::vector<std::string> undefined_symbols(const llvm::Module& module) {
  std::set<std::string> names;
  for (const llvm::GlobalObject& object : module.global_objects()) {
    const bool intrinsic = llvm::isa<llvm::Function>(object) && llvm::cast<llvm::Function>(object).isIntrinsic();
    if (object.isDeclaration() && !object.use_empty() && !intrinsic) {
      names.insert(object.getName().str());
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace esc
