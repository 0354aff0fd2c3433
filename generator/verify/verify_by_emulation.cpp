// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <variant>

#include "generator/emit/built_architectures.h"
#include "generator/support/error.h"
#include "generator/support/limits.h"
#include "generator/verify/allowance_for.h"
#include "generator/verify/call_judgement.h"
#include "generator/verify/call_plan.h"
#include "generator/verify/confined_kernel.h"
#include "generator/verify/confined_transformer.h"
#include "generator/verify/drawn_calls.h"
#include "generator/verify/kernel_calls.h"
#include "generator/verify/kernel_programs.h"
#include "generator/verify/other_patterns.h"
#include "generator/verify/transformer_check.h"
#include "generator/verify/unpack_calls.h"
#include "generator/verify/verify.h"
#include "transformer/unpack.h"

namespace esc {
namespace {

/// What is drawn differs from one kind to the other.
enum SeedOf : std::uint64_t { calls_of_text = 0, device_of_text = 0x6a09e667, transformer_of_text = 0xbb67ae85 };

/// Short, so that it can be copied by hand: the checksum of what was packed, unless another is given.
std::uint64_t seed_of(const BundleUnderTest& bundle, const EmulationEffort& effort) {
  return effort.seed.value_or(transformer::checksum(bundle.packed.data(), bundle.packed.size()) & 0xffffffff);
}

/// What the rows of B and C are longer than the product is wide, at most, where they are not far apart.
constexpr std::int64_t widest_gap = 9;

/// How many items a product may have whose columns are all computed. Throws UserError where one is too many.
std::int64_t most_checked_items(const BundleUnderTest& bundle, const SparseMatrix& matrix) {
  const std::int64_t column_bytes = bytes_of(matrix.element) * (matrix.columns + matrix.rows);
  const std::int64_t fitting = (most_checked_bytes / column_bytes - widest_gap) / bundle.dispatch.item_columns();
  if (fitting < 1) {
    throw UserError(
        bundle.name,
        fmt::format("cannot be checked by emulation: B and C of {} rows and columns together take more than {} MiB",
                    matrix.columns + matrix.rows, most_checked_bytes >> 20),
        "check it on a GPU (generate --no-verify, then verify --device gpu), or cut the matrix into parts");
  }
  const std::int64_t most = std::max<std::int64_t>(1, most_checked_columns / bundle.dispatch.item_columns());
  return std::min(most, fitting);
}

/// With how many items the bundle is checked: with as many as it was made for, unless that is too much.
std::int64_t checked_items(const BundleUnderTest& bundle, const SparseMatrix& matrix) {
  return std::min(bundle.dispatch.tuned_items, most_checked_items(bundle, matrix));
}

/// A report of nothing so far but of what is left out from the start. Throws UserError where nothing can be checked.
VerificationReport begin_report(const BundleUnderTest& bundle, const SparseMatrix& matrix,
                                const EmulationEffort& effort) {
  VerificationReport report{.method = "emulation", .tolerance = tolerance_of(matrix, bundle.dispatch.products)};
  report.seed = seed_of(bundle, effort);
  const std::int64_t items = checked_items(bundle, matrix);
  if (items < bundle.dispatch.tuned_items) {
    report.skipped.push_back(
        fmt::format("n {} was not run, which takes too long or too much memory, but n {}: no call is tuned",
                    bundle.dispatch.tuned_items, items));
  }
  return report;
}

/// Elements, zeros too, for which whoever packs the matrix searches for slots. Where everything finds one the search
/// ends in about an eighth of the time.
std::int64_t searched_elements(std::span<const std::byte> packed) {
  const transformer::PackedFormat format = transformer::read_format(packed);
  const auto* const fragments = std::get_if<transformer::FragmentFormat>(&format);
  if (fragments == nullptr) {
    return 0;
  }
  const std::int64_t elements = fragments->shape.rows * fragments->shape.columns;
  return fragments->shape.residuals != 0 ? elements : elements / 8;
}

/// Why a transformer would run for too long if each of its accesses were checked; nothing where it would not.
std::optional<std::string> reason_not_to_watch(const BundleUnderTest& bundle, const SparseMatrix& matrix,
                                               const EmulationEffort& effort) {
  if (matrix.nonzeros() > effort.most_packed_nonzeros) {
    return fmt::format("the matrix has more than {} non-zeros", effort.most_packed_nonzeros);
  }
  if (searched_elements(bundle.packed) > effort.most_searched_elements) {
    return fmt::format("its search for slots goes through more than {} elements", effort.most_searched_elements);
  }
  return std::nullopt;
}

/// The bundle's own transformer must write the packed file and, where its accesses are watched, nothing that is not its
/// own. Gives what it makes of other values, and of other patterns.
OtherMatrices check_confined_transformer(const BundleUnderTest& bundle, const SparseMatrix& matrix,
                                         const EmulationEffort& effort, Watched watched, VerificationReport& report) {
  const std::int64_t dense = matrix.rows * matrix.columns;
  const std::int64_t packed_elements = matrix.nonzeros() + (dense <= effort.most_dense_elements ? dense : 0);
  // Of all calls together; an element that is searched takes four where accesses are watched.
  const std::int64_t searched = searched_elements(bundle.packed);
  const std::int64_t steps = packed_elements + (watched == Watched::accesses ? 4 * searched : searched / 4);
  const Allowance allowance = allowance_for(effort, static_cast<std::uint64_t>(steps),
                                            16 * packed_elements + static_cast<std::int64_t>(bundle.packed.size()));
  const bool any_pattern = has_any_pattern(bundle.packed) && needs_kernel(bundle.nest, matrix.nonzeros());
  ConfinedTransformer transformer(bundle.transformer_text, bundle.name, matrix, bundle.packed,
                                  effort.most_dense_elements, any_pattern, allowance, watched);
  OtherMatrices others;
  if (transformer.packed_bytes() != bundle.packed.size()) {
    report.problems.push_back(fmt::format("the transformer writes {} bytes, the packed file has {}",
                                          transformer.packed_bytes(), bundle.packed.size()));
  } else {
    TransformCheck check = check_transformer(transformer.functions(), matrix,
                                             {.most_dense_elements = effort.most_dense_elements,
                                              .breadth = effort.breadth,
                                              .seed = seed_of(bundle, effort) ^ transformer_of_text,
                                              .line_rows = bundle.dispatch.scaled_rows,
                                              .packed_tile_words = bundle.dispatch.packed_tile_words});
    report.problems = std::move(check.problems);
    others = {std::move(check.other), std::move(check.patterns)};
    if (!std::ranges::equal(check.packed, bundle.packed)) {
      report.problems.push_back("the transformer does not write what the packed file holds");
    }
  }
  for (const std::string& fault : transformer.faults()) {
    report.problems.push_back("transformer: " + fault);
  }
  return others;
}

/// The calls in another order, those with the same B beside each other; the first stays the first.
std::vector<KernelCall> by_operands(std::vector<KernelCall> calls) {
  const std::int64_t first = calls.front().width();
  std::ranges::stable_sort(calls, {}, [first](const KernelCall& call) {
    return std::tuple(call.width() == first ? 0 : call.width(), call.values.range, call.values.seed);
  });
  return calls;
}

/// The first call again, with other values, and one where nothing is aligned.
std::vector<KernelCall> with_other_values(const std::vector<KernelCall>& calls) {
  std::vector<KernelCall> others{calls.front()};
  const auto unaligned = std::ranges::find_if(calls, [&](const KernelCall& call) {
    return call.product.shift_b != 0 && call.product.shift_c != 0 && call.width() == calls.front().width() &&
           call.values == calls.front().values;
  });
  others.insert(others.end(), unaligned, unaligned == calls.end() ? unaligned : std::next(unaligned));
  for (KernelCall& call : others) {
    call.reason = other_values_reason;
    call.share = part_of_a_product;
  }
  return others;
}

/// The fixed calls for as many items as can be checked, and those that are drawn.
std::vector<KernelCall> calls_for(const BundleUnderTest& bundle, const SparseMatrix& matrix,
                                  const EmulationEffort& effort) {
  const std::int64_t items = checked_items(bundle, matrix);
  const std::uint64_t seed = seed_of(bundle, effort);
  std::vector<KernelCall> calls = kernel_calls(bundle.dispatch, matrix.rows, matrix.columns, items);
  if (asks_for_own_features(bundle.kernel_text)) {
    add_calls_without_features(calls);
  }
  std::ranges::move(calls_on_devices(calls, bundle.dispatch, effort.breadth, seed ^ device_of_text),
                    std::back_inserter(calls));
  const DrawnFor layer{bundle.dispatch, matrix.rows, matrix.longest_row(), most_checked_items(bundle, matrix)};
  std::ranges::move(drawn_calls(layer, effort.breadth, seed ^ calls_of_text), std::back_inserter(calls));
  leave_out_what_is_undefined(calls, matrix);
  return by_operands(std::move(calls));
}

/// Judges the kernel by calls for as many items as can be checked, and by some with other values where there are such.
void check_confined_kernel(const BundleUnderTest& bundle, const SparseMatrix& matrix, const OtherMatrices& others,
                           const EmulationEffort& effort, VerificationReport& report, StageProgress& progress) {
  const std::vector<KernelCall> calls = calls_for(bundle, matrix, effort);
  CallPlan plan(bundle, effort);
  for (const KernelCall& call : calls) {
    plan.add(call, matrix, bundle.packed);
  }
  const std::optional<OtherMatrix>& other = others.values;
  if (other) {
    for (const KernelCall& call : with_other_values(calls)) {
      plan.add(call, other->matrix, other->packed);
    }
  }
  for (const OtherMatrix& pattern : others.patterns) {
    KernelCall call = with_other_values(calls).front();
    call.reason = other_pattern_reason;
    plan.add(call, pattern.matrix, pattern.packed);
  }
  const std::vector<KernelCall> unpackings = unpack_calls(bundle.dispatch, matrix.columns);
  for (const KernelCall& call : unpackings) {
    plan.add_unpacking(call, matrix, bundle.packed);
  }
  if (other && !unpackings.empty()) {
    plan.add_unpacking(unpackings.front(), other->matrix, other->packed);
    for (const KernelCall& call : unpackings) {
      plan.add_repacking(call, *other);
    }
  }
  plan.say_what_is_left_out(report);
  const KernelTask task{bundle.kernel_text, bundle.name, bundle.dispatch, bundle.packed, matrix,
                        plan.calls(),       bundle.nest};
  ConfinedKernel kernel(task, plan.allowance());
  progress.begin("running the kernel on the emulated grid", plan.all_work());
  for (const std::vector<std::string>& problems : {kernel.refusals(), kernel.failures()}) {
    report.problems.insert(report.problems.end(), problems.begin(), problems.end());
  }
  CallJudgement judgement(bundle, plan, kernel, report, progress);
  for (std::size_t number = 0; number < plan.calls().size() && (effort.whole_report || !report.failed()); ++number) {
    judgement.judge(number);
  }
}

/// Whatever a text does to the process that runs it is a problem of the bundle.
template <typename Check>
void judge(const std::string& file, std::vector<std::string>& problems, const Check& check) {
  try {
    check();
  } catch (const ConfinedEnd& end) {
    problems.push_back(fmt::format("{} {}", file, end.what()));
  }
}

}  // namespace

TransformerVerification verify_transformer(const BundleUnderTest& bundle, const SparseMatrix& matrix,
                                           const EmulationEffort& effort, StageProgress& progress) {
  TransformerVerification found{.report = begin_report(bundle, matrix, effort), .others = {}};
  if (bundle.transformer_text.empty()) {
    found.report.skipped.push_back("there is no transformer: the generator packs");
    return found;
  }
  const std::optional<std::string> reason = reason_not_to_watch(bundle, matrix, effort);
  if (reason && std::max(matrix.nonzeros(), searched_elements(bundle.packed)) > effort.most_unwatched_elements) {
    found.report.skipped.push_back("the transformer was not run: " + *reason);
    return found;
  }
  if (reason) {
    found.report.skipped.push_back("what the transformer packs was checked, its memory accesses were not: " + *reason);
  }
  progress.begin("running the data-transformer on the emulated host");
  const Watched watched = reason ? Watched::results : Watched::accesses;
  judge(bundle.name + "_transformer.cpp", found.report.problems,
        [&] { found.others = check_confined_transformer(bundle, matrix, effort, watched, found.report); });
  return found;
}

VerificationReport verify_kernel(const BundleUnderTest& bundle, const SparseMatrix& matrix,
                                 TransformerVerification transformer, const EmulationEffort& effort,
                                 StageProgress& progress) {
  VerificationReport report = std::move(transformer.report);
  progress.begin("compiling the kernel for the emulated grid");
  judge(bundle.name + ".cu", report.problems,
        [&] { check_confined_kernel(bundle, matrix, transformer.others, effort, report, progress); });
  return report;
}

VerificationReport verify_by_emulation(const BundleUnderTest& bundle, const SparseMatrix& matrix,
                                       const EmulationEffort& effort, StageProgress& progress) {
  TransformerVerification transformer = verify_transformer(bundle, matrix, effort, progress);
  if (transformer.report.failed() && !effort.whole_report) {
    return std::move(transformer.report);
  }
  return verify_kernel(bundle, matrix, std::move(transformer), effort, progress);
}

}  // namespace esc
