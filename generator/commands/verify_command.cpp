// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "generator/commands/commands.h"
#include "generator/commands/option_words.h"
#include "generator/commands/verify_model.h"
#include "generator/ir/nest_in_type.h"
#include "generator/lower/canonicalize.h"
#include "generator/support/file.h"
#include "generator/support/json_result.h"
#include "generator/support/temporary_folder.h"
#include "generator/verify/bundle_library.h"
#include "generator/verify/bundle_policy.h"
#include "generator/verify/confined_nest.h"
#include "generator/verify/cuda_runtime.h"
#include "generator/verify/gpu_check.h"
#include "generator/verify/nvcc.h"
#include "generator/verify/verify.h"

namespace esc {
namespace {

struct VerifyRequest {
  std::string folder;
  std::string device = "host";
  std::optional<std::uint64_t> seed = {};
  bool whole = false;
  bool json = false;
};

/// The input of the bundle, which its element type and its layout must fit.
LoopNest nest_of(const LoadedBundle& bundle, const std::string& folder) {
  LoopNest nest =
      read_confined_nest(bundle.manifest.loop_nest, folder + "/manifest.json:loop_nest.c", NestHeaders::of_system);
  nest = written_for(nest, bundle.manifest.element).value_or(nest);
  if (nest.element() != bundle.matrix.element) {
    throw UserError(folder,
                    fmt::format("has a loop nest of {} and a packed matrix of {}", name_of(nest.element()),
                                name_of(bundle.matrix.element)),
                    "generate the bundle again", ExitStatus::check_failed);
  }
  if (const std::string layout = layout_of(canonicalize(nest)); layout != bundle.manifest.layout) {
    throw UserError(folder + "/manifest.json",
                    fmt::format("has layout \"{}\" and a loop nest of \"{}\"", bundle.manifest.layout, layout),
                    "generate the bundle again", ExitStatus::check_failed);
  }
  return nest;
}

VerificationReport verify_on_gpu(const LoadedBundle& bundle, const LoopNest& nest, const Dispatch& dispatch,
                                 StageProgress& progress) {
  CudaRuntime::expect_device();
  const TemporaryFolder workshop;
  progress.begin("compiling the bundle with nvcc");
  // The texts that were looked at, not what is in the folder by now.
  const std::string& name = bundle.manifest.name;
  write_file_whole(workshop.path() / (name + ".cu"), bundle.kernel_text);
  write_file_whole(workshop.path() / (name + "_transformer.cpp"), bundle.transformer_text);
  const BundleLibrary library(compile_bundle(workshop.path(), name, workshop.path()), name);
  const std::filesystem::path predecessor = compile_predecessor(workshop.path());
  progress.begin("running the bundle on the GPU");
  return check_on_gpu(library, predecessor, nest, bundle.matrix, dispatch);
}

/// What the emulation runs. Nobody shall know beforehand what a text that is not the generator's is called with.
EmulationEffort effort_for(const VerifyRequest& request, Breadth breadth) {
  EmulationEffort effort = request.whole || breadth == Breadth::unknown ? thorough_effort : generated_effort;
  effort.seed = request.seed.value_or(std::random_device()());
  return effort;
}

/// A report of texts that are known says what of a large bundle it has not run.
void say_what_was_sampled(VerificationReport& report, const SparseMatrix& matrix) {
  if (!report.runs.empty() && report.runs.front().comparison.rows < matrix.rows) {
    report.skipped.push_back(
        fmt::format("the texts are, token for token, those that are generated: {:.3g} % of the rows were run; --whole "
                    "leaves nothing out",
                    100 * static_cast<double>(report.runs.front().comparison.rows) / static_cast<double>(matrix.rows)));
  }
}

std::string to_json(const std::string& name, const VerificationReport& report) {
  nlohmann::json runs = nlohmann::json::array();
  for (const VerificationRun& run : report.runs) {
    runs.push_back({{"n", run.product.n},
                    {"ldb", run.product.ldb},
                    {"ldc", run.product.ldc},
                    {"shift_b", run.product.shift_b},
                    {"shift_c", run.product.shift_c},
                    {"rows", run.comparison.rows},
                    {"relative_error", run.comparison.error},
                    {"tolerance", report.tolerance_of(run)},
                    {"reason", run.reason},
                    {"problem", run.comparison.problem}});
  }
  return json_result("verified layer", report.passed() ? "passed" : "failed",
                     {{"name", name},
                      {"method", report.method},
                      {"passed", report.passed()},
                      {"runs", runs},
                      {"tolerance", report.tolerance},
                      {"seed", report.seed ? nlohmann::json(*report.seed) : nlohmann::json()},
                      {"problems", report.problems},
                      {"skipped", report.skipped}});
}

ExitStatus run(const VerifyRequest& request, const Console& console) {
  if (is_model_bundle(request.folder)) {
    return verify_model_bundle(request.folder, request.device == "gpu", request.json, console);
  }
  StageProgress progress(console.terminal());
  progress.begin("reading " + request.folder);
  const LoadedBundle bundle = load_bundle(request.folder);
  progress.begin("checking");
  console.say(fmt::format("{}: {} x {}, {} non-zeros, made for N = {}", bundle.manifest.name, bundle.manifest.rows,
                          bundle.manifest.columns, bundle.manifest.nonzeros, bundle.manifest.bcol));
  const LoopNest nest = nest_of(bundle, request.folder);
  const BundleVerdict verdict = check_policy(request.folder, bundle, nest);
  VerificationReport report = request.device == "gpu"
                                  ? verify_on_gpu(bundle, nest, verdict.dispatch, progress)
                                  : verify_by_emulation(bundle.under_test(nest, verdict.dispatch), bundle.matrix,
                                                        effort_for(request, verdict.breadth), progress);
  progress.finish();
  if (request.device != "gpu" && verdict.breadth == Breadth::generated && !request.whole) {
    say_what_was_sampled(report, bundle.matrix);
  }
  if (request.json || !report.passed() || console.verbosity() != Verbosity::quiet) {
    const ReportedRuns runs = console.verbosity() == Verbosity::verbose ? ReportedRuns::all : ReportedRuns::wrong;
    fmt::print("{}", request.json ? to_json(bundle.manifest.name, report) : print(report, runs));
  }
  return report.passed() ? ExitStatus::done : ExitStatus::check_failed;
}

}  // namespace

void add_verify_command(CLI::App& program, const CommonOptions& common, Action& action) {
  CLI::App* command = add_command(program, "verify", "Check a bundle against a float64 reference",
                                  "escgen verify bundles/ffn1\n"
                                  "escgen verify bundles/ffn1 --device gpu");
  const auto request = std::make_shared<VerifyRequest>();
  command->add_option("bundle", request->folder, "The bundle's folder, DIR/NAME")->required();
  command
      ->add_option("--device", request->device,
                   "host: run the texts on an emulated grid; gpu: compile with nvcc and run")
      ->check(one_of({"host", "gpu"}))
      ->capture_default_str();
  command
      ->add_option("--seed", request->seed,
                   "Seed of the random calls, as an earlier report printed it (default: a new one)")
      ->type_name("NUMBER");
  command->add_flag(
      "--whole", request->whole,
      "Leave nothing out of a large bundle, though its texts are, token for token, those that are generated");
  command->add_flag("--json", request->json, "Print JSON");
  command->callback([request, &common, &action] { action = [=, &common] { return run(*request, common.console()); }; });
}

}  // namespace esc
