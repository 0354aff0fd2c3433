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
#include "generator/emulate/race_clock.h"
#include "generator/support/error.h"
#include "generator/support/limits.h"
#include "generator/verify/confined_kernel.h"
#include "generator/verify/confined_transformer.h"
#include "generator/verify/drawn_calls.h"
#include "generator/verify/kernel_calls.h"
#include "generator/verify/kernel_programs.h"
#include "generator/verify/other_patterns.h"
#include "generator/verify/panel_sample.h"
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

/// Multiply-adds of a call, as the emulation counts them: a row costs some though it is empty, for its threads run.
std::int64_t products_of(const SparseMatrix& matrix, const KernelCall& call) {
  constexpr std::int64_t row_products = 8;
  return std::max<std::int64_t>(1, std::max(matrix.nonzeros(), row_products * matrix.rows) * call.width());
}

/// The multiply-adds that a call may take: its share of what a whole product takes, or the least that it is worth.
std::int64_t most_products(const KernelCall& call, const SparseMatrix& matrix, const EmulationEffort& effort) {
  const std::int64_t whole = std::min(products_of(matrix, call), effort.most_products);
  return std::clamp(static_cast<std::int64_t>(call.share * static_cast<double>(whole)),
                    std::min(whole, call.least_products), whole);
}

/// Multiply-adds of a call that computes the rows of the sample.
std::int64_t sampled_products(const SparseMatrix& matrix, const KernelCall& call, const PanelSample& sample) {
  if (sample.covers_all()) {
    return products_of(matrix, call);
  }
  std::int64_t products = 1;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    products += sample.rows()[static_cast<std::size_t>(row)] ? std::max<std::int64_t>(matrix.row_length(row), 8) : 0;
  }
  return products * call.width();
}

/// How many tiles of columns there are for each that a call computes. A block may have all rows, so that a sample of
/// rows is no smaller; of a call that asks for a part of a product some tiles do. What whole products take is not cut
/// unless it is many times what they may, nor are whole items at the ends of launches of texts that nothing is known
/// of.
std::int64_t tile_stride(const KernelCall& call, const Dispatch& dispatch, std::int64_t products, std::int64_t most,
                         Breadth breadth) {
  constexpr std::int64_t least = 500'000;
  constexpr std::int64_t excess = 2;
  const bool keeps_ranges = !call.columns.empty() && breadth == Breadth::unknown;
  if (dispatch.tile_columns == 0 || keeps_ranges || (call.share == 1 && products <= excess * most) ||
      call.width() > most_tiles * dispatch.tile_columns) {
    return 1;
  }
  return std::max<std::int64_t>(1, products / std::max(least, most));
}

/// Matrices that the nest's epilogue reads, each as large as C.
std::int64_t operand_matrices(const LoopNest& nest) {
  return std::ranges::count_if(operands_of(nest),
                               [](const ArrayDeclaration& operand) { return operand.extents.size() == 2; });
}

/// Bytes of B, C and `operands` matrices like C that a call touches, by whole pages where rows are far apart.
std::int64_t touched_bytes(const SparseMatrix& matrix, const KernelCall& call, const Dispatch& dispatch,
                           std::int64_t operands) {
  constexpr std::int64_t page_bytes = 4096;
  const std::int64_t element = bytes_of(matrix.element);
  const auto touched = [&](const PlacedLayout& layout, std::int64_t rows, std::int64_t distance) {
    if (layout.runs_over_items()) {  // of each item its elements, and what is watched in front of it and behind it
      const std::int64_t apart = layout.least_leading_dimension(call.product.n) * element + 3 * page_bytes;
      return call.width() / call.item_columns * std::min(distance * element, apart);
    }
    const std::int64_t inner = layout.is_row_major() ? call.width() : layout.least_leading_dimension(call.product.n);
    const std::int64_t apart = inner * element + static_cast<std::int64_t>(call.compared().size()) * page_bytes;
    return layout.outermost_extent(rows, call.product.n) * std::min(distance * element, apart);
  };
  return touched(dispatch.b, matrix.columns, call.product.ldb) +
         (1 + operands) * touched(dispatch.c, matrix.rows, call.product.ldc + 1);
}

/// Addresses that a call takes: those of B, C and what is like it, and of what is noted for each word of C.
std::uint64_t mapped_bytes(const SparseMatrix& matrix, const KernelCall& call, const Dispatch& dispatch,
                           std::int64_t operands) {
  constexpr double notes = 1 + static_cast<double>(sizeof(WordShadow)) / 4;
  constexpr double beside = 1 << 30;
  const auto mapped = [&](const PlacedLayout& layout, std::int64_t rows, std::int64_t distance) {
    return static_cast<double>(layout.outermost_extent(rows, call.product.n)) * static_cast<double>(distance) *
           static_cast<double>(bytes_of(matrix.element));
  };
  const double like_c = static_cast<double>(operands) * mapped(dispatch.c, matrix.rows, call.product.ldc + 1);
  return static_cast<std::uint64_t>(mapped(dispatch.b, matrix.columns, call.product.ldb) +
                                    notes * mapped(dispatch.c, matrix.rows, call.product.ldc) + like_c + beside);
}

/// Addresses that a matrix of so many bytes takes which a call writes, with what is noted for each word of it.
std::uint64_t mapped_bytes_of_written(std::int64_t bytes) {
  constexpr double notes = 1 + static_cast<double>(sizeof(WordShadow)) / 4;
  constexpr double beside = 1 << 30;
  return static_cast<std::uint64_t>(notes * static_cast<double>(bytes) + beside);
}

/// Beyond this no process has addresses.
constexpr std::uint64_t most_mapped_bytes = std::uint64_t{1} << 46;

/// What a text may use up beside what its work needs: time on a machine that is slow and busy, and the emulator's notes
/// on each element.
Allowance allowance_for(const EmulationEffort& effort, std::uint64_t steps, std::int64_t bytes) {
  constexpr std::uint64_t steps_of_a_millisecond = 100;
  return {.time = effort.patience + std::chrono::milliseconds(steps / steps_of_a_millisecond),
          .memory = effort.memory + 8 * static_cast<std::uint64_t>(bytes)};
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
  return fragments->shape.extras != 0 ? elements : elements / 8;
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
                                              .unit_words = bundle.dispatch.unit_words});
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

/// Collects what a kernel is to do, and says of which calls it is relieved.
class Plan {
 public:
  Plan(const BundleUnderTest& bundle, const EmulationEffort& effort) : bundle_(bundle), effort_(effort) {}

  void add(const KernelCall& call, const SparseMatrix& matrix, std::span<const std::byte> packed) {
    const std::int64_t bytes = touched_bytes(matrix, call, bundle_.dispatch, operand_matrices(bundle_.nest));
    const std::uint64_t mapped = mapped_bytes(matrix, call, bundle_.dispatch, operand_matrices(bundle_.nest));
    if (bytes > most_checked_bytes || mapped > most_mapped_bytes) {
      too_large_.push_back(print(call));
      return;
    }
    // The sample is one of the pattern, which the packed file has been checked for.
    const std::int64_t most = most_products(call, matrix, effort_);
    PanelSample sample(bundle_.packed, products_of(matrix, call), most, call.first_unit, bundle_.dispatch.block_rows);
    const std::int64_t products = sampled_products(matrix, call, sample);
    const std::int64_t stride = tile_stride(call, bundle_.dispatch, products, most, effort_.breadth);
    calls_.push_back({call, matrix, packed, std::move(sample), &matrix, stride});
    work_.push_back(work_of(matrix, call, products / stride));
    all_work_ += work_.back();
    most_touched_ = std::max(most_touched_, bytes);
    most_mapped_ = std::max(most_mapped_, mapped);
  }

  /// A call of NAME_unpack, of so many rows that it takes no longer than a part of a product.
  void add_unpacking(const KernelCall& call, const SparseMatrix& matrix, std::span<const std::byte> packed) {
    add_of(UnpackFunction::unpack, call, matrix, packed, matrix.rows * call.product.ldc * bytes_of(matrix.element));
  }

  /// A call of NAME_values likewise, which writes other values into the packed matrix of the bundle.
  void add_repacking(const KernelCall& call, const OtherMatrix& other) {
    add_of(UnpackFunction::values, call, other.matrix, bundle_.packed,
           static_cast<std::int64_t>(bundle_.packed.size()));
    calls_.back().packed_of_values = other.packed;
  }

  const std::vector<TaskCall>& calls() const { return calls_; }
  /// Multiply-adds of a call.
  std::uint64_t work(std::size_t number) const { return work_[number]; }
  std::uint64_t all_work() const { return all_work_; }

  Allowance allowance() const {
    Allowance allowance = allowance_for(effort_, all_work_, most_touched_);
    allowance.address_space = most_mapped_;
    return allowance;
  }

  void say_what_is_left_out(VerificationReport& report) const {
    if (!too_large_.empty()) {
      const std::string others =
          too_large_.size() == 1 ? " was" : fmt::format(" and {} calls like it were", too_large_.size() - 1);
      report.skipped.push_back(fmt::format("{}{} not run: B and C would take more than {} MiB", too_large_.front(),
                                           others, most_checked_bytes >> 20));
    }
  }

 private:
  /// Multiply-adds, and what it takes to make and to move B and C: a part of one for each of their elements.
  static std::uint64_t work_of(const SparseMatrix& matrix, const KernelCall& call, std::int64_t products) {
    constexpr std::int64_t elements_of_a_product = 16;
    return static_cast<std::uint64_t>(products + (matrix.rows + matrix.columns) * call.width() / elements_of_a_product);
  }

  /// Of a call that writes so many bytes.
  void add_of(UnpackFunction function, const KernelCall& call, const SparseMatrix& matrix,
              std::span<const std::byte> packed, std::int64_t bytes) {
    constexpr std::int64_t products_of_an_element = 8;
    const std::int64_t products = products_of_an_element * matrix.rows * matrix.columns;
    const std::int64_t most = effort_.most_products / 4;
    calls_.push_back({call, matrix, packed,
                      PanelSample(bundle_.packed, products, most, call.first_unit, bundle_.dispatch.block_rows),
                      &matrix});
    calls_.back().function = function;
    work_.push_back(static_cast<std::uint64_t>(std::min(products, most)));
    all_work_ += work_.back();
    most_touched_ = std::max(most_touched_, std::min(bytes, most_checked_bytes));
    most_mapped_ = std::max(most_mapped_, mapped_bytes_of_written(bytes));
  }

  const BundleUnderTest& bundle_;
  const EmulationEffort& effort_;
  std::vector<TaskCall> calls_;
  std::vector<std::uint64_t> work_;
  std::uint64_t all_work_ = 0;
  std::int64_t most_touched_ = 0;
  std::uint64_t most_mapped_ = 0;
  std::vector<std::string> too_large_;
};

/// Has the calls of a plan made, and judges what comes back. The kernel's process is only asked for C: the reference,
/// and the judgement, are of this process.
class Judgement {
 public:
  Judgement(const BundleUnderTest& bundle, const Plan& plan, ConfinedKernel& kernel, VerificationReport& report,
            StageProgress& progress)
      : bundle_(bundle), plan_(plan), kernel_(kernel), report_(report), progress_(progress) {}

  /// Of the call with this number.
  void judge(std::size_t number) {
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
    report_.runs.push_back({one.call.product,
                            operands.reference.compare(result->c, one.compared_rows(),
                                                       one.compared_columns(bundle_.dispatch.tile_columns)),
                            one.call.reason});
  }

 private:
  /// What the process makes of a call; nothing where it has no addresses for the operands.
  std::optional<EmulatedProduct> made(std::size_t number, const TypedElements& b) {
    const auto work = static_cast<double>(plan_.work(number));
    std::optional<EmulatedProduct> result = kernel_.multiply(number, b, [&](std::uint64_t run, std::uint64_t all) {
      progress_.reach(done_ + static_cast<std::uint64_t>(work * static_cast<double>(run) /
                                                         static_cast<double>(std::max<std::uint64_t>(all, 1))));
    });
    done_ += plan_.work(number);
    progress_.reach(done_);
    return result;
  }

  /// What NAME_unpack has written must be the matrix, to the bit, and what NAME_values has the packed matrix.
  void judge_unpacking(std::size_t number) {
    const TaskCall& one = plan_.calls()[number];
    const bool repacks = *one.function == UnpackFunction::values;
    const std::string call = print_unpacking(one.call, *one.function);
    const std::optional<EmulatedProduct> result =
        made(number, repacks ? values_to_take(*one.source, one.compared_rows()) : TypedElements(one.matrix.element, 0));
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

  /// B, in double and as the kernel gets it.
  struct Operands {
    Operands(const LoopNest& nest, const SparseMatrix& a, const Dispatch& dispatch, const ProductCase& product,
             const ValueDraw& draw)
        : matrix(&a),
          columns(product.n),
          values(draw),
          reference(nest, a, draw_b(dispatch.b, a.columns, product, draw, a.element), product,
                    judged_kernel(dispatch, draw)),
          b(a.element, reference.b()) {}

    const SparseMatrix* matrix;
    std::int64_t columns;
    ValueDraw values;
    Reference reference;
    TypedElements b;
  };

  /// Calls of as many columns, drawn alike, have the same B.
  const Operands& operands_of(const TaskCall& one) {
    if (!operands_ || operands_->matrix != one.source || operands_->columns != one.call.width() ||
        operands_->values != one.call.values) {
      operands_.emplace(bundle_.nest, *one.source, bundle_.dispatch, one.call.compact(), one.call.values);
      if (one.sample.covers_all() && one.tile_stride == 1) {
        operands_->reference.compute_all();  // which the calls behind it then take their rows from
      }
    }
    return *operands_;
  }

  /// The process says that it has no addresses for the operands. Where rows are not far apart, a limit of this machine
  /// leaves too little for any check.
  void leave_out(const TaskCall& one) {
    constexpr std::uint64_t much = std::uint64_t{4} << 30;
    if (mapped_bytes(*one.source, one.call, bundle_.dispatch, operand_matrices(bundle_.nest)) < much) {
      throw UserError("this machine", "leaves a process too little memory for B and C of one product",
                      "raise the limit of memory (ulimit -v), or take a larger machine", ExitStatus::missing_tool);
    }
    report_.skipped.push_back(fmt::format("{} was not run: a process here has not enough addresses", print(one.call)));
  }

  const BundleUnderTest& bundle_;
  const Plan& plan_;
  ConfinedKernel& kernel_;
  VerificationReport& report_;
  StageProgress& progress_;
  std::optional<Operands> operands_;  ///< those of the latest call
  std::uint64_t done_ = 0;
};

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
  Plan plan(bundle, effort);
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
  Judgement judgement(bundle, plan, kernel, report, progress);
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
