// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/call_judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "generator/support/error.h"
#include "generator/verify/kernel_calls.h"
#include "generator/verify/unpack_calls.h"

namespace esc {

CallJudgement::Operands::Operands(const LoopNest& nest, const SparseMatrix& a, const Dispatch& dispatch,
                                  const ProductCase& product, const ValueDraw& draw)
    : matrix(&a),
      columns(product.n),
      values(draw),
      reference(nest, a, draw_b(dispatch.b, a.columns, product, draw, a.element), product,
                judged_kernel(dispatch, draw)),
      b(a.element, reference.b()) {}

void CallJudgement::judge(std::size_t number) {
  const TaskCall& one = plan_.calls()[number];
  if (one.function) {
    judge_unpacking(number);
    return;
  }
  const Operands& operands = operands_of(one);
  const std::optional<EmulatedProduct> result = made(number, operands.b);
  if (!result) {
    leave_out(one);
    return;
  }
  for (const std::string& problem : result->problems) {
    report_.problems.push_back(fmt::format("{}: {}", print(one.call), problem));
  }
  report_.runs.push_back(
      {one.call.product,
       operands.reference.compare(result->c, one.compared_rows(), one.compared_columns(bundle_.dispatch.tile_columns)),
       one.call.reason});
}

std::optional<EmulatedProduct> CallJudgement::made(std::size_t number, const TypedElements& b) {
  const auto work = static_cast<double>(plan_.work(number));
  std::optional<EmulatedProduct> result = kernel_.multiply(number, b, [&](std::uint64_t run, std::uint64_t all) {
    progress_.reach(done_ + static_cast<std::uint64_t>(work * static_cast<double>(run) /
                                                       static_cast<double>(std::max<std::uint64_t>(all, 1))));
  });
  done_ += plan_.work(number);
  progress_.reach(done_);
  return result;
}

void CallJudgement::judge_unpacking(std::size_t number) {
  const TaskCall& one = plan_.calls()[number];
  const bool repacks = *one.function == UnpackFunction::values;
  const std::string call = print_unpacking(one.call, *one.function);
  const std::optional<EmulatedProduct> result =
      made(number, repacks ? values_to_take(*one.source, one.packed, one.compared_rows())
                           : TypedElements(one.matrix.element, 0));
  if (!result) {
    report_.skipped.push_back(fmt::format("{} was not run: a process here has not enough addresses", call));
    return;
  }
  for (const std::string& problem : result->problems) {
    report_.problems.push_back(fmt::format("{}: {}", call, problem));
  }
  const std::string wrong =
      repacks ? wrong_byte_of_packed(one.packed, one.packed_of_values, result->c.bytes(), one.compared_rows())
              : wrong_element_of_a(*one.source, result->c, one.compared_rows());
  if (!wrong.empty()) {
    report_.problems.push_back(fmt::format("{}: {}", call, wrong));
  }
}

const CallJudgement::Operands& CallJudgement::operands_of(const TaskCall& one) {
  if (!operands_ || operands_->matrix != one.source || operands_->columns != one.call.width() ||
      operands_->values != one.call.values) {
    operands_.emplace(bundle_.nest, *one.source, bundle_.dispatch, one.call.compact(), one.call.values);
    if (one.sample.covers_all() && one.tile_stride == 1) {
      operands_->reference.compute_all();  // which the calls after it then take their rows from
    }
  }
  return *operands_;
}

void CallJudgement::leave_out(const TaskCall& one) {
  constexpr std::uint64_t much = std::uint64_t{4} << 30;
  if (mapped_bytes(*one.source, one.call, bundle_) < much) {
    throw UserError("this machine", "leaves a process too little memory for B and C of one product",
                    "raise the limit of memory (ulimit -v), or take a larger machine", ExitStatus::missing_tool);
  }
  report_.skipped.push_back(fmt::format("{} was not run: a process here has not enough addresses", print(one.call)));
}

}  // namespace esc
