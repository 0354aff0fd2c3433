// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/instrument.h"

#include <fmt/format.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/Utils/Local.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "generator/emulate/inline_helpers.h"
#include "generator/emulate/instrumented_code.h"
#include "generator/frontend/host_compiler/host_compiler.h"
#include "generator/support/error.h"

namespace esc {
namespace {

/// What a variable of a function may have; no stack of a thread has as much.
constexpr std::uint64_t kMostLocalBytes = std::uint64_t{8} << 20;
/// What a frame needs besides its variables.
constexpr std::uint64_t kFrameOverhead = 512;

class Instrumenter {
 public:
  explicit Instrumenter(llvm::Module& module)
      : module_(module),
        context_(module.getContext()),
        layout_(module.getDataLayout()),
        pointer_(llvm::PointerType::getUnqual(context_)),
        int32_(llvm::Type::getInt32Ty(context_)),
        int64_(llvm::Type::getInt64Ty(context_)),
        unlikely_(llvm::MDBuilder(context_).createUnlikelyBranchWeights()) {}

  /// What must be seen while the text is as it was written: what is refused wherever it is, and divisions and
  /// shifts, which come out as anything once their operands are known.
  void run_before_inlining() {
    for (llvm::Function* function : instrumented_functions(module_)) {
      for (llvm::Instruction* instruction : instructions_of(*function)) {
        refuse_or_guard(*instruction);
      }
    }
  }

  /// Judges the reads that were noted and are no longer there; the others are judged as all accesses are.
  void judge_vanished_reads() {
    for (llvm::Function* function : instrumented_functions(module_)) {
      for (llvm::Instruction* instruction : instructions_of(*function)) {
        auto* note = llvm::dyn_cast<llvm::CallInst>(instruction);
        if (note != nullptr && note->getCalledFunction() != nullptr &&
            note->getCalledFunction()->getName() == kReadAsWritten) {
          judge_if_vanished(*note);
          note->eraseFromParent();
        }
      }
    }
  }

  SiteTable run() {
    for (llvm::Function* function : instrumented_functions(module_)) {
      instrument_function(*function);
    }
    return std::move(sites_);
  }

 private:
  enum class Direction { read, write, atomic };

  void instrument_function(llvm::Function& function) {
    const std::vector<llvm::Instruction*> instructions = instructions_of(function);
    meter_loops(function);
    for (llvm::Instruction* instruction : instructions) {
      visit(*instruction);
    }
    check_stack(function);
  }

  void judge_if_vanished(llvm::CallInst& note) {
    llvm::Value* pointer = note.getArgOperand(0);
    const auto* load = llvm::dyn_cast_or_null<llvm::LoadInst>(note.getNextNode());
    if (load == nullptr || load->getPointerOperand() != pointer) {
      const std::uint64_t packed = llvm::cast<llvm::ConstantInt>(note.getArgOperand(1))->getZExtValue();
      range(note, pointer, llvm::ConstantInt::get(int64_, AccessNote::bytes(packed)),
            llvm::Align(AccessNote::alignment(packed)), Direction::read);
    }
  }

  void refuse_or_guard(llvm::Instruction& at) {
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(&at)) {
      refuse_call(*call);
    } else if (auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(&at)) {
      operation->isShift() ? guard_shift(*operation) : guard_division(*operation);
    } else if (llvm::isa<llvm::IndirectBrInst>(at)) {
      refuse(at, "a jump to a computed place");
    } else if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&at)) {
      refuse_variable(*variable);
    }
  }

  void visit(llvm::Instruction& at) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&at)) {
      access(at, load->getPointerOperand(), load->getType(), load->getAlign(),
             load->isAtomic() ? Direction::atomic : Direction::read);
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&at)) {
      access(at, store->getPointerOperand(), store->getValueOperand()->getType(), store->getAlign(),
             store->isAtomic() ? Direction::atomic : Direction::write);
    } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&at)) {
      access(at, exchange->getPointerOperand(), exchange->getCompareOperand()->getType(), exchange->getAlign(),
             Direction::atomic);
    } else if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&at)) {
      access(at, update->getPointerOperand(), update->getValOperand()->getType(), update->getAlign(),
             Direction::atomic);
    } else if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&at)) {
      range(at, copy->getSource(), copy->getLength(), copy->getSourceAlign().valueOrOne(), Direction::read);
      range(at, copy->getDest(), copy->getLength(), copy->getDestAlign().valueOrOne(), Direction::write);
    } else if (auto* fill = llvm::dyn_cast<llvm::MemSetInst>(&at)) {
      range(at, fill->getDest(), fill->getLength(), fill->getDestAlign().valueOrOne(), Direction::write);
    } else if (auto* call = llvm::dyn_cast<llvm::CallBase>(&at)) {
      visit_call(*call);
    } else if (llvm::isa<llvm::UnreachableInst>(at)) {
      visit_unreachable(at);
    }
  }

  void refuse_variable(const llvm::AllocaInst& variable) {
    const std::optional<std::uint64_t> size = local_size(variable);
    if (!size) {
      refuse(variable, "a local array whose size is not a constant");
    }
    if (*size > kMostLocalBytes) {
      refuse(variable, fmt::format("a local array of {} bytes", *size));
    }
  }

  [[noreturn]] void refuse(const llvm::Instruction& at, const std::string& what) {
    throw UserError(sites_.describe(site_of(at)), what + " cannot be run on the host", "write it in plain C++ or CUDA");
  }

  void refuse_call(const llvm::CallBase& call) {
    if (call.isInlineAsm()) {
      throw UserError(sites_.describe(site_of(call)), "inline assembly cannot be run on the host",
                      "write it with CUDA's intrinsics");
    }
    const llvm::Function* callee = call.getCalledFunction();
    if (callee != nullptr && leaves_the_language(*callee)) {
      refuse(call, fmt::format("'{}'", callee->getName().str()));
    }
  }

  void visit_call(llvm::CallBase& call) {
    const llvm::Function* callee = call.getCalledFunction();
    if (callee == nullptr) {
      check_target(call);
      return;
    }
    if (callee->getIntrinsicID() == llvm::Intrinsic::var_annotation) {
      visit_annotation(call);
      return;
    }
    if (callee->getName() == hook_names::kStop) {
      // Of a division that may have been inlined since.
      call.setArgOperand(1, llvm::ConstantInt::get(int32_, site_of(call)));
    } else if (callee->getIntrinsicID() == llvm::Intrinsic::trap ||
               callee->getIntrinsicID() == llvm::Intrinsic::debugtrap) {
      stop(call, StopReason::trap);
    } else if (callee->isDeclaration() && !callee->isIntrinsic()) {
      llvm::IRBuilder<> builder(&call);
      builder.CreateStore(builder.getInt32(site_of(call)), module_.getOrInsertGlobal(hook_names::kSite, int32_));
    }
  }

  /// The engine of the copies may read a parameter that is __grid_constant__, where it is.
  void visit_annotation(llvm::CallBase& call) {
    const auto* word = llvm::dyn_cast<llvm::GlobalVariable>(call.getArgOperand(1)->stripPointerCasts());
    const auto* text = word == nullptr ? nullptr : llvm::dyn_cast<llvm::ConstantDataSequential>(word->getInitializer());
    if (text != nullptr && text->isCString() && text->getAsCString() == "esc_grid_constant") {
      llvm::IRBuilder<> builder(&call);
      builder.CreateCall(hook(hook_names::kGridConstant, {pointer_}), {call.getArgOperand(0)});
    }
  }

  /// Whether the function reaches below what C++ knows of: registers, frames, instructions of one processor.
  static bool leaves_the_language(const llvm::Function& callee) {
    switch (callee.getIntrinsicID()) {
      case llvm::Intrinsic::eh_sjlj_longjmp:
      case llvm::Intrinsic::eh_sjlj_setjmp:
      case llvm::Intrinsic::returnaddress:
      case llvm::Intrinsic::addressofreturnaddress:
      case llvm::Intrinsic::frameaddress:
      case llvm::Intrinsic::sponentry:
      case llvm::Intrinsic::read_register:
      case llvm::Intrinsic::read_volatile_register:
      case llvm::Intrinsic::write_register:
      case llvm::Intrinsic::init_trampoline:
      case llvm::Intrinsic::adjust_trampoline:
      case llvm::Intrinsic::clear_cache:
        return true;
      default:
        return callee.isTargetIntrinsic();
    }
  }

  /// A pointer may call only functions that the text defines, takes the address of, and gave that type.
  void check_target(llvm::CallBase& call) {
    llvm::IRBuilder<> builder(&call);
    llvm::Value* allowed = llvm::ConstantInt::getFalse(context_);
    for (llvm::Function& function : module_) {
      if (!is_left_alone(function) && function.hasAddressTaken() &&
          function.getFunctionType() == call.getFunctionType()) {
        allowed = builder.CreateOr(allowed, builder.CreateICmpEQ(call.getCalledOperand(), &function));
      }
    }
    stop_if(builder.CreateNot(allowed), call, StopReason::call_target);
  }

  void guard_division(llvm::BinaryOperator& division) {
    const unsigned code = division.getOpcode();
    const bool is_signed = code == llvm::Instruction::SDiv || code == llvm::Instruction::SRem;
    if (!is_signed && code != llvm::Instruction::UDiv && code != llvm::Instruction::URem) {
      return;
    }
    llvm::Value* divisor = division.getOperand(1);
    llvm::Type* type = divisor->getType();
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(divisor);
    if ((constant != nullptr && !constant->isZero() && !constant->isMinusOne()) || type->isVectorTy()) {
      return;
    }
    llvm::IRBuilder<> builder(&division);
    llvm::Value* bad = builder.CreateIsNull(divisor);
    if (is_signed) {
      const unsigned width = type->getIntegerBitWidth();
      llvm::Value* lowest = llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(width));
      llvm::Value* overflows =
          builder.CreateAnd(builder.CreateICmpEQ(divisor, llvm::ConstantInt::getAllOnesValue(type)),
                            builder.CreateICmpEQ(division.getOperand(0), lowest));
      bad = builder.CreateOr(bad, overflows);
    }
    stop_if(bad, division, StopReason::division);
  }

  /// By more bits than a number has C++ knows no shift; a GPU gives 0 where a host processor takes some of the bits.
  void guard_shift(llvm::BinaryOperator& shift) {
    llvm::Value* const bits = shift.getOperand(1);
    llvm::Type* const type = bits->getType();
    if (type->isVectorTy()) {
      return;
    }
    const unsigned width = type->getIntegerBitWidth();
    const auto* const constant = llvm::dyn_cast<llvm::ConstantInt>(bits);
    if (constant != nullptr && constant->getValue().ult(width)) {
      return;
    }
    llvm::IRBuilder<> builder(&shift);
    stop_if(builder.CreateICmpUGE(bits, llvm::ConstantInt::get(type, width)), shift, StopReason::shift);
  }

  void visit_unreachable(llvm::Instruction& at) {
    const auto* before = llvm::dyn_cast_or_null<llvm::CallBase>(at.getPrevNode());
    if (before == nullptr || !before->doesNotReturn()) {
      stop(at, StopReason::unreachable);
    }
  }

  void access(llvm::Instruction& at, llvm::Value* pointer, llvm::Type* type, llvm::Align alignment,
              Direction direction) {
    range(at, pointer, llvm::ConstantInt::get(int64_, layout_.getTypeStoreSize(type).getFixedValue()), alignment,
          direction);
  }

  void range(llvm::Instruction& at, llvm::Value* pointer, llvm::Value* length, llvm::Align alignment,
             Direction direction) {
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(length);
    if (constant != nullptr && (constant->isZero() || is_local(at, pointer, constant->getZExtValue()))) {
      return;
    }
    llvm::IRBuilder<> builder(&at);
    const bool single = constant != nullptr && direction != Direction::atomic && has_own_hook(constant->getZExtValue());
    const std::uint64_t bytes = constant != nullptr ? constant->getZExtValue() : 0;
    llvm::Value* note = builder.getInt64(AccessNote::pack(bytes, llvm::Log2(alignment), site_of(at)));
    if (single) {
      const char* stem = direction == Direction::read ? hook_names::kRead : hook_names::kWrite;
      builder.CreateCall(hook(stem + std::to_string(bytes), {pointer_, int64_}), {pointer, note});
      return;
    }
    const char* name = direction == Direction::read    ? hook_names::kReadRange
                       : direction == Direction::write ? hook_names::kWriteRange
                                                       : hook_names::kAtomic;
    builder.CreateCall(hook(name, {pointer_, int64_, int64_}),
                       {pointer, builder.CreateZExtOrTrunc(length, int64_), note});
  }

  static bool has_own_hook(std::uint64_t bytes) {
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
  }

  /// Whether the access needs no hook: it is inside a local variable, or has just been given a check in line, or reads
  /// a register or a constant of the compiler.
  bool is_local(llvm::Instruction& at, llvm::Value* pointer, std::uint64_t bytes) {
    llvm::APInt offset(layout_.getIndexTypeSizeInBits(pointer->getType()), 0);
    const llvm::Value* base = pointer->stripAndAccumulateConstantOffsets(layout_, offset, /*AllowNonInbounds=*/true);
    if (const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(base)) {
      return is_index_register(global->getName()) ||
             (global->isConstant() && global->hasGlobalUnnamedAddr() && fits(offset, bytes, size_of(*global)));
    }
    if (const auto size = local_size(*base)) {
      if (!fits(offset, bytes, *size)) {
        stop_if(llvm::ConstantInt::getTrue(context_), at, StopReason::local_array);
      }
      return true;
    }
    return check_index(at, pointer, bytes);
  }

  static bool fits(const llvm::APInt& offset, std::uint64_t bytes, std::uint64_t size) {
    return bytes <= size && offset.ule(size - bytes);
  }

  std::uint64_t size_of(const llvm::GlobalVariable& global) const {
    return layout_.getTypeAllocSize(global.getValueType()).getFixedValue();
  }

  std::optional<std::uint64_t> local_size(const llvm::Value& base) const {
    if (const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&base)) {
      const auto size = variable->getAllocationSize(layout_);
      return size ? std::optional<std::uint64_t>(size->getFixedValue()) : std::nullopt;
    }
    if (const auto* argument = llvm::dyn_cast<llvm::Argument>(&base); argument != nullptr && argument->hasByValAttr()) {
      return layout_.getTypeAllocSize(argument->getParamByValType()).getFixedValue();
    }
    return std::nullopt;
  }

  /// For an address computed from a local variable: compares the offset with the variable's size in line.
  bool check_index(llvm::Instruction& at, llvm::Value* pointer, std::uint64_t bytes) {
    std::vector<llvm::User*> steps;
    llvm::Value* base = pointer;
    while (auto* step = llvm::dyn_cast<llvm::GEPOperator>(base)) {
      steps.push_back(step);
      base = step->getPointerOperand();
    }
    const auto size = local_size(*base);
    if (!size || bytes > *size) {
      return false;
    }
    llvm::IRBuilder<> builder(&at);
    llvm::Value* offset = builder.getInt64(0);
    for (llvm::User* step : steps) {
      offset = builder.CreateAdd(offset, llvm::emitGEPOffset(&builder, layout_, step, /*NoAssumptions=*/true));
    }
    stop_if(builder.CreateICmpUGT(offset, builder.getInt64(*size - bytes)), at, StopReason::local_array);
    return true;
  }

  void stop_if(llvm::Value* condition, llvm::Instruction& at, StopReason reason) {
    llvm::Instruction* then =
        llvm::SplitBlockAndInsertIfThen(condition, at.getIterator(), /*Unreachable=*/true, unlikely_);
    then->setDebugLoc(at.getDebugLoc());
    stop(*then, reason);
  }

  void stop(llvm::Instruction& at, StopReason reason) {
    llvm::IRBuilder<> builder(&at);
    auto* call =
        builder.CreateCall(hook(hook_names::kStop, {int32_, int32_}),
                           {builder.getInt32(static_cast<std::uint32_t>(reason)), builder.getInt32(site_of(at))});
    call->setDoesNotReturn();
  }

  void meter_loops(llvm::Function& function) {
    llvm::SmallVector<std::pair<const llvm::BasicBlock*, const llvm::BasicBlock*>, 8> edges;
    llvm::FindFunctionBackedges(function, edges);
    llvm::SmallPtrSet<const llvm::BasicBlock*, 8> metered;
    for (llvm::BasicBlock& block : llvm::make_early_inc_range(function)) {
      const bool loops = llvm::any_of(edges, [&](const auto& edge) { return edge.first == &block; });
      if (!loops || !metered.insert(&block).second) {
        continue;
      }
      llvm::Instruction* end = block.getTerminator();
      llvm::IRBuilder<> builder(end);
      llvm::Constant* fuel = module_.getOrInsertGlobal(hook_names::kFuel, int64_);
      llvm::Value* left = builder.CreateSub(builder.CreateLoad(int64_, fuel), builder.getInt64(1));
      builder.CreateStore(left, fuel);
      llvm::Value* empty = builder.CreateICmpSLT(left, builder.getInt64(0));
      llvm::Instruction* then =
          llvm::SplitBlockAndInsertIfThen(empty, end->getIterator(), /*Unreachable=*/false, unlikely_);
      builder.SetInsertPoint(then);
      builder.CreateCall(hook(hook_names::kOutOfFuel, {int32_}), {builder.getInt32(site_of(*end))});
    }
  }

  void check_stack(llvm::Function& function) {
    std::uint64_t frame = kFrameOverhead;
    for (const llvm::Instruction& instruction : function.getEntryBlock()) {
      if (llvm::isa<llvm::AllocaInst>(instruction)) {
        frame += local_size(instruction).value_or(0);
      }
    }
    llvm::Instruction& first = *function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
    llvm::IRBuilder<> builder(&first);
    llvm::Value* top = builder.CreateIntrinsic(llvm::Intrinsic::frameaddress, {pointer_}, {builder.getInt32(0)});
    llvm::Value* limit = builder.CreateLoad(int64_, module_.getOrInsertGlobal(hook_names::kStackLimit, int64_));
    llvm::Value* lowest = builder.CreateAdd(limit, builder.getInt64(frame));
    llvm::Instruction* then = llvm::SplitBlockAndInsertIfThen(
        builder.CreateICmpULT(builder.CreatePtrToInt(top, int64_), lowest), first.getIterator(), true, unlikely_);
    builder.SetInsertPoint(then);
    auto* call =
        builder.CreateCall(hook(hook_names::kStackOverflow, {int32_}), {builder.getInt32(entry_site(function))});
    call->setDoesNotReturn();
  }

  llvm::FunctionCallee hook(const std::string& name, std::initializer_list<llvm::Type*> parameters) {
    return hook_of(module_, name, parameters);
  }

  /// The place in the user's text: inlined pieces of our own headers are left for where they were called.
  std::uint32_t site_of(const llvm::Instruction& at) {
    const llvm::DILocation* place = at.getDebugLoc().get();
    while (place != nullptr && place->getInlinedAt() != nullptr && is_ours(place->getFilename())) {
      place = place->getInlinedAt();
    }
    if (place == nullptr) {
      return entry_site(*at.getFunction());
    }
    return sites_.add({place->getFilename().str(), place->getLine(), place->getColumn()});
  }

  std::uint32_t entry_site(const llvm::Function& function) {
    const llvm::DISubprogram* program = function.getSubprogram();
    return program == nullptr ? 0 : sites_.add({program->getFilename().str(), program->getLine(), 1});
  }

  static bool is_ours(llvm::StringRef file) {
    return file.starts_with(llvm::StringRef(kVirtualHeaderFolder.data(), kVirtualHeaderFolder.size()));
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  const llvm::DataLayout& layout_;
  llvm::PointerType* pointer_;
  llvm::Type* int32_;
  llvm::Type* int64_;
  llvm::MDNode* unlikely_;
  SiteTable sites_;
};

}  // namespace

bool is_index_register(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kNames = {"threadIdx", "blockIdx", "blockDim", "gridDim"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

SiteTable instrument(llvm::Module& module) {
  if (!module.getModuleInlineAsm().empty()) {
    throw UserError(module.getSourceFileName(), "inline assembly cannot be run on the host",
                    "write it with CUDA's intrinsics");
  }
  Instrumenter instrumenter(module);
  instrumenter.run_before_inlining();
  inline_helpers(module);
  instrumenter.judge_vanished_reads();
  promote_locals(module);
  return instrumenter.run();
}

}  // namespace esc
