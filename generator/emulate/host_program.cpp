// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/host_program.h"

#include <fmt/format.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugLoc.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <array>
#include <map>
#include <new>
#include <utility>

#include "generator/emulate/host_pass.h"
#include "generator/emulate/instrument.h"
#include "generator/support/error.h"

namespace esc {
namespace {

/// Between shared variables, so that running over the end of one is not an access of the next.
constexpr std::uint64_t kSharedGap = 256;
/// What the hardware aligns shared memory to at most.
constexpr std::uint64_t kSharedAlignment = 1024;

/// The first place from `begin` on that has the alignment and no more: nothing may rely on what is not declared.
std::uint64_t place_of_shared(std::uint64_t begin, std::uint64_t alignment) {
  const std::uint64_t promised = std::min(alignment, kSharedAlignment);
  const std::uint64_t place = round_up(begin, promised);
  return promised < kSharedAlignment && place % (2 * promised) == 0 ? place + promised : place;
}

/// Functions that the code generator calls without being asked by the text.
constexpr std::array kCodeGeneratorCalls = {"memcpy", "memmove", "memset", "ceil", "ceilf", "cos",   "cosf",   "exp",
                                            "expf",   "exp10",   "exp10f", "exp2", "exp2f", "floor", "floorf", "fma",
                                            "fmaf",   "fmax",    "fmaxf",  "fmin", "fminf", "ldexp", "ldexpf", "log",
                                            "logf",   "log2",    "log2f",  "pow",  "powf",  "rint",  "rintf",  "sin",
                                            "sinf",   "sqrt",    "sqrtf",  "tanh", "tanhf"};

using Resolver = std::function<std::uint64_t(const std::string&)>;
using Symbols = std::map<std::string, std::uint64_t>;

void add_registers(Symbols& symbols, Registers& registers) {
  const auto address = [](const auto& field) { return reinterpret_cast<std::uint64_t>(&field); };
  symbols["threadIdx"] = address(registers.thread_index);
  symbols["blockIdx"] = address(registers.block_index);
  symbols["blockDim"] = address(registers.block_extent);
  symbols["gridDim"] = address(registers.grid_extent);
  symbols[hook_names::kSite] = address(registers.site);
  symbols[hook_names::kFuel] = address(registers.fuel);
  symbols[hook_names::kStackLimit] = address(registers.stack_limit);
}

/// What the variables of a text may take: no table of a kernel is larger, and memory is there for matrices.
constexpr std::uint64_t kMostVariableBytes = std::uint64_t{64} << 20;

void check_sizes(const ModuleFacts& facts, const std::string& file_name) {
  const auto check = [&](const std::string& name, std::uint64_t bytes, std::uint64_t most) {
    if (bytes > most) {
      throw UserError(
          file_name,
          fmt::format("the variable '{}' has {} bytes, more than the {} that a text may have", name, bytes, most),
          "make it smaller, or a buffer of the caller's");
    }
    return bytes;
  };
  std::uint64_t all = 0;
  for (const GlobalFacts& variable : facts.globals) {
    all += check(variable.name, variable.bytes, kMostVariableBytes - all);
  }
  for (const SharedFacts& variable : facts.shared) {
    check(variable.name, variable.bytes, kMostVariableBytes);
  }
}

/// Makes the module report what it does, where that is watched for. What cannot be run on the host is refused in either
/// case.
SiteTable prepare(llvm::Module& module, Watched watched) {
  return instrument(watched == Watched::accesses ? module : *llvm::CloneModule(module));
}

/// "FILE:LINE" of the first use of an undefined symbol, or FILE where none is in a line.
std::string place_of_use(const llvm::Module& module, const std::string& symbol) {
  const llvm::GlobalValue* const value = module.getNamedValue(symbol);
  if (value != nullptr) {
    for (const llvm::User* user : value->users()) {
      const auto* const instruction = llvm::dyn_cast<llvm::Instruction>(user);
      if (instruction != nullptr && instruction->getDebugLoc() && instruction->getDebugLoc().getLine() != 0) {
        return fmt::format("{}:{}", module.getSourceFileName(), instruction->getDebugLoc().getLine());
      }
    }
  }
  return module.getSourceFileName();
}

/// Answers what the module leaves undefined.
void add_functions(Symbols& symbols, const llvm::Module& module, const Resolver& resolve) {
  for (const std::string& name : undefined_symbols(module)) {
    if (symbols.contains(name)) {
      continue;
    }
    const std::uint64_t address = resolve(name);
    if (address == 0) {
      throw UserError(place_of_use(module, name), fmt::format("uses '{}', which nothing defines", llvm::demangle(name)),
                      "define it in the text, or use what CUDA and the C library offer");
    }
    symbols[name] = address;
  }
  for (const char* name : kCodeGeneratorCalls) {
    symbols.try_emplace(name, resolve(name));
  }
}

}  // namespace

HostProgram::HostProgram(const HostSource& source, const std::optional<HostSource>& host_pass, const Resolver& resolve,
                         Watched watched)
    : file_name_(source.file_name) {
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module = compile_for_host(source, *context);
  if (host_pass) {
    module = join_passes(std::move(module), compile_for_host(*host_pass, *context));
  }
  ModuleFacts facts = take_facts(*module);
  check_sizes(facts, file_name_);
  sites_ = prepare(*module, watched);

  std::uint64_t end = round_up(sizeof(Registers), kSharedAlignment);
  std::uint64_t dynamic_alignment = 1;
  std::map<std::string, std::uint64_t> offsets;
  for (const SharedFacts& variable : facts.shared) {
    if (variable.bytes != 0) {
      end = place_of_shared(end + kSharedGap, variable.alignment);
      offsets[variable.symbol] = end;
      end += variable.bytes;
    } else {
      dynamic_alignment = std::max(dynamic_alignment, variable.alignment);
    }
  }
  const std::uint64_t dynamic_offset = place_of_shared(end + kSharedGap, dynamic_alignment);
  memory_ = MappedMemory(dynamic_offset + kMaxSharedBytes + kSharedGap);
  new (memory_.data()) Registers();
  first_shared_ = memory_.address() + round_up(sizeof(Registers), kSharedAlignment);
  dynamic_shared_ = memory_.address() + dynamic_offset;

  Symbols symbols;
  add_registers(symbols, registers());
  for (const SharedFacts& variable : facts.shared) {
    const std::uint64_t address =
        variable.bytes == 0 ? dynamic_shared_ : memory_.address() + offsets.at(variable.symbol);
    symbols[variable.symbol] = address;
    if (variable.bytes != 0) {
      shared_.push_back({variable.name, address, variable.bytes, GlobalKind::device});
    }
  }
  add_functions(symbols, *module, resolve);
  orders_single_threads_ = symbols.contains(hook_names::kInitialiseBarrier) ||
                           symbols.contains(hook_names::kNamedBarrier) || symbols.contains(hook_names::kIssueProduct);
  code_ = std::make_unique<JitCode>(std::move(module), std::move(context), symbols,
                                    watched == Watched::accesses ? Optimisation::light : Optimisation::full);

  for (const GlobalFacts& variable : facts.globals) {
    if (const std::uint64_t address = code_->address(variable.symbol); address != 0) {
      variables_.push_back({variable.name, address, variable.bytes, variable.kind});
    }
  }
  for (KernelFacts& kernel : facts.kernels) {
    const std::uint64_t address = code_->address(kernel.symbol);
    kernels_.push_back({std::move(kernel), address});
  }
}

void* HostProgram::symbol(const std::string& name) const {
  const std::uint64_t address = code_->address(name);
  if (address == 0) {
    throw UserError(file_name_, fmt::format("defines no function '{}'", name), "declare it extern \"C\"");
  }
  return reinterpret_cast<void*>(address);
}

}  // namespace esc
