// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "generator/support/stage_progress.h"
#include "generator/verify/call_plan.h"
#include "generator/verify/confined_kernel.h"
#include "generator/verify/reference.h"
#include "generator/verify/verify.h"

namespace esc {

/// Has the calls of a plan made, and judges what comes back. The kernel's process is only asked for C: the reference,
/// and the judgement, are of this process. What it is made of must outlive it.
class CallJudgement {
 public:
  CallJudgement(const BundleUnderTest& bundle, const CallPlan& plan, ConfinedKernel& kernel, VerificationReport& report,
                StageProgress& progress)
      : bundle_(bundle), plan_(plan), kernel_(kernel), report_(report), progress_(progress) {}

  /// Of the call with this number.
  void judge(std::size_t number);

 private:
  /// B, in double and as the kernel gets it.
  struct Operands {
    Operands(const LoopNest& nest, const SparseMatrix& a, const Dispatch& dispatch, const ProductCase& product,
             const ValueDraw& draw);

    const SparseMatrix* matrix;
    std::int64_t columns;
    ValueDraw values;
    Reference reference;
    TypedElements b;
  };

  /// What the process makes of a call; nothing where it has no addresses for the operands.
  std::optional<EmulatedProduct> made(std::size_t number, const TypedElements& b);
  /// What NAME_unpack has written must be the matrix, to the bit, and what NAME_values has the packed matrix.
  void judge_unpacking(std::size_t number);
  /// Calls of as many columns, drawn alike, have the same B.
  const Operands& operands_of(const TaskCall& one);
  /// The process says that it has no addresses for the operands. Where rows are not far apart, a limit of this machine
  /// leaves too little for any check.
  void leave_out(const TaskCall& one);

  const BundleUnderTest& bundle_;
  const CallPlan& plan_;
  ConfinedKernel& kernel_;
  VerificationReport& report_;
  StageProgress& progress_;
  std::optional<Operands> operands_;  ///< those of the latest call
  std::uint64_t done_ = 0;
};

}  // namespace esc
