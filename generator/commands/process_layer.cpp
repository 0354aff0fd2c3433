// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <nlohmann/json.hpp>

#include "generator/commands/default_element.h"
#include "generator/commands/expected_speed.h"
#include "generator/commands/input.h"
#include "generator/commands/layer_request.h"
#include "generator/commands/loop_nest_input.h"
#include "generator/commands/quick_tuning.h"
#include "generator/commands/taken_place.h"
#include "generator/emit/earlier_words.h"
#include "generator/emit/launch_plan.h"
#include "generator/emit/measured_json.h"
#include "generator/emit/sources.h"
#include "generator/frontend/format_source.h"
#include "generator/ir/product_digits.h"
#include "generator/matrix/block_diagonal.h"
#include "generator/matrix/typed_elements.h"
#include "generator/model/layer_file.h"
#include "generator/support/file.h"
#include "generator/support/json_result.h"
#include "generator/support/page_text.h"
#include "generator/verify/number_limits.h"
#include "generator/verify/nvcc.h"
#include "generator/verify/verify.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

/// Data files are for machines; every other text of a bundle is laid out for people.
std::string format(const std::string& file, const std::string& text) { return format_source(text, file); }

/// The manifest on disk; empty where there is none.
std::string manifest_on_disk(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) ? read_bundle_file(file) : std::string();
}

/// Thread blocks of a product with bCol columns; a layer without a kernel has none.
std::uint64_t blocks_of(const Layer& layer) {
  if (!has_kernel(layer)) {
    return 0;
  }
  const LaunchPlan plan = launch_plan(layer);
  return std::uint64_t{plan.grid_x} * plan.grid_y;
}

/// Threads of each of them.
std::uint64_t threads_of(const Layer& layer) { return has_kernel(layer) ? launch_plan(layer).threads : 0; }

ExpectedSpeed speed_of(const Layer& layer) {
  return expected_speed({.measured = layer.choice.measured,
                         .not_measured = layer.choice.not_measured,
                         .beside_dense = layer.choice.beside_dense,
                         .packed_bytes = static_cast<double>(packed_bytes(layer)),
                         .dense_bytes = static_cast<double>(layer.statistics.dense_bytes)});
}

nlohmann::json summary(const Layer& layer) {
  nlohmann::json result{{"name", layer.name},
                        {"sparsity", layer.statistics.sparsity},
                        {"bcol", layer.bcol},
                        {"dtype", name_of(layer.lowered.element())},
                        {"architectures", layer.architectures},
                        {"schedule", text_of(layer.choice)},
                        {"schedule_source", layer.choice.source},
                        {"notes", layer.choice.notes},
                        {"family", family_of(layer.choice)},
                        {"blocks", blocks_of(layer)},
                        {"packed_bytes", packed_bytes(layer)},
                        {"csr_bytes", layer.statistics.csr_bytes},
                        {"dense_bytes", layer.statistics.dense_bytes},
                        {"speed", speed_json(speed_of(layer))}};
  set_renamed(result, "rows", "m", layer.statistics.rows);
  set_renamed(result, "columns", "k", layer.statistics.columns);
  set_renamed(result, "nonzeros", "nnz", layer.statistics.nonzeros);
  if (layer.choice.measured) {
    result["over_exact"] = *layer.choice.measured->over_exact;  // as before there was "measured"
    result["measured"] = measured_json(*layer.choice.measured);
  } else if (!layer.choice.not_measured.empty()) {
    result["not_measured"] = layer.choice.not_measured;
  }
  if (layer.tuning) {
    result["tuning"] = tuning_json(*layer.tuning);
  }
  return result;
}

/// What a person asks first: what was made, how fast it is, how large.
std::string answer(const Layer& layer) {
  std::string text =
      labelled("layer", fmt::format("{}: {} x {}, {} non-zeros ({:.1f} % zeros), {}, made for N = {}", layer.name,
                                    layer.statistics.rows, layer.statistics.columns, layer.statistics.nonzeros,
                                    100 * layer.statistics.sparsity, name_of(layer.lowered.element()), layer.bcol));
  text += speed_lines(speed_of(layer));
  if (layer.tuning) {
    text += labelled("tuned", describe(*layer.tuning));
  }
  text += labelled(
      "bytes", bytes_text(static_cast<double>(packed_bytes(layer)), static_cast<double>(layer.statistics.dense_bytes),
                          static_cast<double>(layer.statistics.csr_bytes)));
  return text;
}

std::string notes_of(const Layer& layer) {
  std::string text;
  for (const std::string& note : layer.choice.notes) {
    text += labelled("note", note);
  }
  return text;
}

/// How it is made, for those who ask with --verbose.
std::string details(const Layer& layer) {
  return labelled("schedule", text_of(layer.choice)) + labelled("from", layer.choice.source) +
         labelled("grid", fmt::format("{} blocks of {} threads", blocks_of(layer), threads_of(layer)));
}

/// What came of a layer; with --quiet only what is to be done about it: the difference of a stale bundle.
void print_result(const Layer& layer, const std::string& status, const nlohmann::json& more, const GenerateMode& mode,
                  const std::string& text, const Console& console, bool is_good = true) {
  if (mode.json) {
    nlohmann::json result = summary(layer);
    result.update(more);
    fmt::print("{}", json_result("generated layer", status, result));
    return;
  }
  if (console.verbosity() == Verbosity::quiet && is_good) {
    return;
  }
  print_plain("{}{}{}{}", answer(layer), notes_of(layer), text,
              console.verbosity() == Verbosity::verbose ? details(layer) : "");
}

VerificationReport verify(const GeneratedLayer& generated, const SparseMatrix& matrix, const KernelBundle& bundle,
                          StageProgress& progress) {
  BundleUnderTest under_test{generated.layer.name, generated.layer.input, dispatch_of(generated.layer), {}, {},
                             generated.bytes()};
  for (const BundleFile& file : bundle.files) {
    if (file.name.ends_with(".cu")) {
      under_test.kernel_text = file.text;
    } else if (file.name.ends_with("_transformer.cpp")) {
      under_test.transformer_text = file.text;
    }
  }
  return verify_by_emulation(under_test, matrix, sample_effort, progress);
}

ExitStatus check_layer(const GeneratedLayer& generated, const GenerateMode& mode, const Console& console,
                       StageProgress& progress) {
  const fs::path manifest = fs::path(mode.output) / generated.layer.name / "manifest.json";
  const KernelBundle bundle =
      with_manifest(make_bundle(generated, format), manifest_as_measured(generated.layer, manifest_on_disk(manifest)));
  std::string differences = compare_bundle(bundle, mode.output);
  const bool has_earlier_words =
      !differences.empty() && compare_bundle(in_words_on_disk(bundle, mode.output), mode.output).empty();
  if (has_earlier_words) {
    differences.clear();
  }
  progress.finish();
  const std::string line =
      !differences.empty() ? differences + "check      the bundle is stale\n"
      : has_earlier_words  ? "check      the bundle is current, with its schedule in the words of an earlier release\n"
                           : "check      the bundle is current\n";
  print_result(generated.layer, differences.empty() ? "current" : "stale",
               {{"diff", differences}, {"has_earlier_words", has_earlier_words}}, mode, line, console,
               differences.empty());
  return differences.empty() ? ExitStatus::done : ExitStatus::check_failed;
}

ExitStatus write_layer(const GeneratedLayer& generated, const SparseMatrix& matrix, const GenerateMode& mode,
                       const Console& console, StageProgress& progress) {
  std::optional<VerificationRecord> verification;
  std::string verified = "verified   no: --no-verify\n";
  KernelBundle bundle = make_bundle(generated, format);
  refuse_taken_place(generated, bundle, mode);
  if (mode.verify) {
    console.detail("running the kernel and the transformer on the emulated grid");
    const VerificationReport report = verify(generated, matrix, bundle, progress);
    if (!report.passed()) {
      progress.finish();
      print_result(generated.layer, "failed", {{"verified", false}, {"problems", report.problems}}, mode, print(report),
                   console, false);
      console.error(generated.layer.name + ": the generated bundle is wrong; it is not written");
      return ExitStatus::check_failed;
    }
    verification = report.record(matrix.rows);
    verified = labelled("verified",
                        fmt::format("by emulation: relative error {:.2e} (at most {:.2e}) over {:.3g} % of the rows",
                                    verification->error, verification->tolerance, 100 * verification->rows_covered));
    for (const std::string& part : verification->skipped) {
      verified += labelled("skipped", part);
    }
  }
  std::optional<std::vector<KernelResources>> resources;
  if (mode.resources) {
    progress.begin("asking nvcc for registers and shared memory");
    resources = kernel_resources(kernel_source(generated.layer), generated.layer.name, generated.layer.architectures);
  }
  std::string manifest = manifest_json(generated.layer, verification, resources);
  if (!mode.force) {  // a bundle that differs by old words alone is left as it is
    manifest = manifest_in_words_of(manifest_on_disk(fs::path(mode.output) / bundle.name / "manifest.json"), manifest);
    bundle = in_words_on_disk(std::move(bundle), mode.output);
  }
  bundle = with_manifest(std::move(bundle), manifest);
  progress.begin("writing the bundle");
  const WriteOutcome outcome = write_bundle(bundle, mode.output, mode.force);
  progress.finish();
  const std::string folder = (fs::path(mode.output) / bundle.name).string();
  std::string text = verified;
  for (const KernelResources& kernel : resources.value_or(std::vector<KernelResources>())) {
    text += labelled("resources", fmt::format("{} on sm_{}: {} registers, {} bytes of shared memory, {} bytes spilled",
                                              kernel.kernel, kernel.architecture, kernel.registers, kernel.shared_bytes,
                                              kernel.spill_bytes));
  }
  text += fmt::format("bundle     {} ({})\n", folder, outcome == WriteOutcome::written ? "written" : "unchanged");
  print_result(generated.layer, outcome == WriteOutcome::written ? "written" : "unchanged",
               {{"folder", folder}, {"verified", verification.has_value()}}, mode, text, console);
  return ExitStatus::done;
}

/// The request with what was measured of the schedules that auto would take first, where that is asked for. A matrix
/// without non-zeros has nothing to measure.
LayerRequest with_measurements(LayerRequest request, const GenerateMode& mode, const LoopNest& nest,
                               const SparseMatrix& matrix, const std::shared_ptr<PackingCache>& fragments,
                               const Console& console, StageProgress& progress) {
  if (!is_tuned(request, mode) || matrix.nonzeros() == 0) {
    return request;
  }
  progress.begin("measuring candidates");
  const std::vector<Schedule> candidates =
      first_usable_schedules(request, mode, nest, matrix, fragments, quick_candidates);
  console.detail(fmt::format("measuring {} candidates", candidates.size()));
  request.tuning = std::make_shared<const TuningRecord>(mode.tuner->measure(request, nest, candidates, console));
  return request;
}

/// Refuses weights that the type holds as infinities alone, and says how many became zero.
void report_rounding(const LayerRequest& request, const Rounding& rounding, ScalarType element,
                     const Console& console) {
  if (rounding.became_infinite > 0 && !request.read.allow_nonfinite) {
    throw UserError(
        request.matrix,
        fmt::format("has {} values beyond the largest number of {}, {:g}", rounding.became_infinite, name_of(element),
                    number_limits(element).largest),
        fmt::format("scale the matrix, choose --dtype {}, or allow values that are not finite (--allow-nonfinite)",
                    element == ScalarType::tf32 ? "f32" : "bf16 or f32"));
  }
  if (rounding.became_zero > 0) {
    console.say(
        fmt::format("{}: {} of its values became zero in {}", request.matrix, rounding.became_zero, name_of(element)));
  }
}

}  // namespace

StoredMatrix read_stored_matrix(const LayerRequest& request, const LoopNest& nest, const Console& console,
                                StageProgress& progress) {
  ReadOptions read = request.read;
  read.element = read_type(nest.element());
  SparseMatrix stored = read_layer(request.matrix, read, progress);
  const Rounding rounding = is_rounded(nest.element()) ? round_values(stored, nest.element()) : Rounding{};
  report_rounding(request, rounding, nest.element(), console);
  return {std::move(stored), rounding};
}

ExitStatus process_layer(const LayerRequest& request, const GenerateMode& mode, const Console& console) {
  check_bcol(request.bcol);
  check_name(request.name);
  StageProgress progress(console.terminal());
  console.detail("reading " + request.matrix);
  NestSource source = request.nest;
  source.sizes.weights = read_layer_shape(request.matrix);
  const LoopNest nest = read_loop_nest(source, element_of(request));
  auto [stored, rounding] = read_stored_matrix(request, nest, console, progress);
  if (request.min_sparsity && stored.sparsity() < *request.min_sparsity) {
    progress.finish();
    if (mode.json) {
      fmt::print("{}", json_result("generated layer", "skipped",
                                   {{"name", request.name}, {"bcol", request.bcol}, {"sparsity", stored.sparsity()}}));
    }
    console.say(fmt::format("{}: skipped, {:.1f} % zeros are less than {:.1f} %", request.matrix,
                            100 * stored.sparsity(), 100 * *request.min_sparsity));
    return ExitStatus::done;
  }
  const SparseMatrix matrix = block_diagonal(std::move(stored), digits_of(nest));
  if (!mode.check && !mode.dry_run) {
    refuse_taken_place(request, mode, nest, matrix);
  }
  const auto fragments = std::make_shared<PackingCache>();
  const LayerRequest tuned = with_measurements(request, mode, nest, matrix, fragments, console, progress);
  progress.begin("lowering the loop nest and packing the matrix");
  console.detail("lowering the loop nest and packing the matrix");
  GeneratedLayer generated = make_layer(tuned, mode, nest, matrix, fragments, console);
  generated.layer.rounding = rounding;
  if (const std::string note = type_note(stored_type(request.matrix), nest.element()); !note.empty()) {
    generated.layer.choice.notes.push_back(note);
  }
  if (mode.dry_run) {
    progress.finish();
    print_result(generated.layer, "dry run", nlohmann::json::object(), mode, "bundle     not written: --dry-run\n",
                 console);
    return ExitStatus::done;
  }
  progress.begin("laying out the texts of the bundle");
  return mode.check ? check_layer(generated, mode, console, progress)
                    : write_layer(generated, matrix, mode, console, progress);
}

}  // namespace esc
