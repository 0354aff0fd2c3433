// SPDX-License-Identifier: Apache-2.0
#include "tests/support/emulated_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/emit/sources.h"
#include "generator/emulate/compile_program.h"
#include "generator/frontend/format_source.h"
#include "generator/verify/emulated_transformer.h"
#include "generator/verify/emulated_unpacking.h"
#include "generator/verify/transformer_check.h"

namespace esc::tests {
namespace {

constexpr const char* layer_name = "layer";
constexpr std::int64_t most_dense_elements = 1 << 20;

/// The oldest one that has what the schedule needs.
int architecture_for(const ScheduleChoice& choice) {
  const std::vector<Directive> directives = directives_of(choice, true);
  const bool is_newer = std::ranges::any_of(directives, [](const Directive& one) {
    return std::holds_alternative<ClusterIterations>(one) || std::holds_alternative<PackGathered>(one);
  });
  return is_newer ? GatherSchedule::least_architecture : StreamSchedule::least_architecture;
}

GenerateOptions options_of(std::int64_t bcol, ScheduleChoice choice) {
  return {.name = layer_name,
          .source_file = "layer.mtx",
          .bcol = bcol,
          .architectures = {architecture_for(choice)},
          .choice = std::move(choice)};
}

}  // namespace

GeneratedLayer layer_of(const SparseMatrix& matrix, std::int64_t bcol, const Schedule& schedule,
                        std::uint32_t max_list_columns) {
  GenerateOptions options = options_of(bcol, {schedule, "user"});
  options.max_list_columns = max_list_columns;
  return generate_layer(matrix, spmm_nest(matrix.element), options);
}

GeneratedLayer layer_of(const SparseMatrix& matrix, std::int64_t bcol, const Schedule& schedule, const LoopNest& nest) {
  return generate_layer(matrix, nest, options_of(bcol, {schedule, "user"}));
}

GeneratedLayer layer_of(const SparseMatrix& matrix, std::int64_t bcol, const std::vector<Directive>& script) {
  ScheduleChoice choice;
  choice.source = "user";
  choice.script = script;
  return generate_layer(matrix, spmm_nest(matrix.element), options_of(bcol, std::move(choice)));
}

std::string kernel_text(const GeneratedLayer& generated) {
  return format_source(kernel_source(generated.layer), generated.layer.name + ".cu");
}

std::string print(const JudgedProduct& judged) {
  return fmt::format("{}{}error {:.3g}, at most {:.3g}", judged.problem, judged.problem.empty() ? "" : "; ",
                     judged.error, judged.tolerance);
}

EmulatedKernel::EmulatedKernel(const GeneratedLayer& generated) : EmulatedKernel(generated, kernel_text(generated)) {}

EmulatedKernel::EmulatedKernel(const GeneratedLayer& generated, const std::string& text)
    : name_(generated.layer.name),
      nest_(generated.layer.input),
      packed_(generated.packed),
      packed_bytes_(generated.bytes().size()),
      dispatch_(dispatch_of(generated.layer)),
      programs_(text, name_ + ".cu", dispatch_) {}

JudgedProduct EmulatedKernel::multiply(const SparseMatrix& matrix, const KernelCall& call, const std::vector<double>& b,
                                       std::optional<std::uint64_t> order) const {
  const Reference reference(nest_, matrix, b, call.compact(), judged_kernel(dispatch_, call.values));
  const EmulatedProduct result = product(matrix, call, b, order);
  const Comparison comparison = reference.compare(result.c);
  return {comparison.error, comparison.limit(tolerance_of(matrix, dispatch_.products)),
          result.problems.empty() ? comparison.wrong_element() : result.problems.front()};
}

JudgedProduct EmulatedKernel::multiply(const SparseMatrix& matrix, const KernelCall& call,
                                       std::optional<std::uint64_t> order) const {
  return multiply(matrix, call, draw_b(dispatch_.b, matrix.columns, call.compact(), call.values, matrix.element),
                  order);
}

EmulatedProduct EmulatedKernel::product(const SparseMatrix& matrix, const KernelCall& call,
                                        const std::vector<double>& b, std::optional<std::uint64_t> order) const {
  EmulationOptions options;
  options.shuffle_seed = order;
  EmulatedDevice device;
  return emulate_product(
      device, {programs_.for_call(call), name_, {packed_.get(), packed_bytes_}, matrix.rows, dispatch_, &nest_}, call,
      TypedElements(matrix.element, b), options);
}

std::string EmulatedKernel::unpacking_problem(const SparseMatrix& matrix, const KernelCall& call) const {
  EmulatedDevice device;
  const EmulatedProduct result = emulate_unpacking(
      device, {programs_.for_call(call), name_, {packed_.get(), packed_bytes_}, matrix.rows, dispatch_, &nest_}, call,
      matrix.element, {});
  return result.problems.empty() ? wrong_element_of_a(matrix, result.c) : result.problems.front();
}

EmulatedProduct EmulatedKernel::repacked(const SparseMatrix& values, const KernelCall& call) const {
  EmulatedDevice device;
  return emulate_repacking(
      device, {programs_.for_call(call), name_, {packed_.get(), packed_bytes_}, values.rows, dispatch_, &nest_}, call,
      values_to_take(values, {packed_.get(), packed_bytes_}), {});
}

void EmulatedKernel::take_packed(std::span<const std::byte> packed) {
  const std::shared_ptr<std::byte[]> own(new std::byte[packed.size()]);
  std::ranges::copy(packed, own.get());
  packed_ = own;
  packed_bytes_ = packed.size();
}

std::vector<KernelCall> EmulatedKernel::calls(const SparseMatrix& matrix) const {
  std::vector<KernelCall> calls = kernel_calls(dispatch_, matrix.rows, matrix.columns);
  if (programs_.differ_without_features()) {
    add_calls_without_features(calls);
  }
  leave_out_what_is_undefined(calls, matrix);
  std::erase_if(calls, [](const KernelCall& call) { return !call.columns.empty(); });
  return calls;
}

std::string transformer_text(const GeneratedLayer& generated) {
  return format_source(transformer_source(generated.layer), generated.layer.name + "_transformer.cpp");
}

std::string transformer_problem(const GeneratedLayer& generated, const SparseMatrix& matrix) {
  return transformer_problem(generated, matrix, transformer_text(generated));
}

std::string transformer_problem(const GeneratedLayer& generated, const SparseMatrix& matrix, const std::string& text) {
  EmulatedTransformer transformer(text, generated.layer.name, matrix, takes_any_pattern(generated.layer));
  const TransformCheck check = check_transformer(transformer.functions(), matrix,
                                                 {.most_dense_elements = most_dense_elements,
                                                  .line_rows = dispatch_of(generated.layer).scaled_rows,
                                                  .packed_tile_words = dispatch_of(generated.layer).packed_tile_words});
  if (!transformer.device().faults().empty()) {
    return transformer.device().faults().front().message;
  }
  if (!check.problems.empty()) {
    return check.problems.front();
  }
  return std::ranges::equal(check.packed, generated.bytes()) ? "" : "it packs otherwise than the generator";
}

}  // namespace esc::tests
