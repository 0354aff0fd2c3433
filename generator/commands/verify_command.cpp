// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "generator/commands/commands.h"
#include "generator/commands/option_words.h"
#include "generator/commands/verify_model.h"
#include "generator/ir/nest_in_type.h"
#include "generator/lower/canonicalize.h"
#include "generator/support/file.h"
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
    throw UserError(folder + "/manifest.json", fmt::format("has layout \"{}\" and a loop nest of \"{}\"", bundle.manifest.layout, layout),
                    "generate the bundle again", ExitStatus::check_failed);
  }
  return nest;
}

VerificationReport verify_on_gpu(const LoadedBundle& bundle, const LoopNest& nest, StageProgress& progress) {
  CudaRuntime::expect_device();
  const TemporaryFolder workshop;
  progress.begin("compiling the bundle with nvcc");
  // The texts that were looked at, not what stands in the folder by now.
  const std::string& name = bundle.manifest.name;
  write_file_whole(workshop.path() / (name + ".cu"), bundle.kernel_text);
  write_file_whole(workshop.path() / (name + "_transformer.cpp"), bundle.transformer_text);
  const BundleLibrary library(compile_bundle(workshop.path(), name, workshop.path()), name);
  const std::filesystem::path predecessor = compile_predecessor(workshop.path());
  progress.begin("running the bundle on the GPU");
  return check_on_gpu(library, predecessor, nest, bundle.matrix, dispatch_of(bundle.manifest, nest, bundle.matrix));
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
                    {"problem", run.comparison.problem}});
  }
  const nlohmann::json result{{"name", name},
                              {"method", report.method},
                              {"passed", report.passed()},
                              {"runs", runs},
                              {"tolerance", report.tolerance},
                              {"problems", report.problems},
                              {"skipped", report.skipped}};
  return result.dump(2) + "\n";
}

ExitStatus run(const VerifyRequest& request, const Console& console) {
  if (is_model_bundle(request.folder)) {
    if (request.device != "host") {
      throw UserError("--device " + request.device, "is not for the bundle of a model", "leave it out; to run a layer on a GPU, generate its own bundle");
    }
    return verify_model_bundle(request.folder, request.json, console);
  }
  StageProgress progress(console.terminal());
  progress.begin("reading " + request.folder);
  const LoadedBundle bundle = load_bundle(request.folder);
  progress.begin("checking");
  console.say(fmt::format("{}: {} x {}, {} non-zeros, made for bCol {}", bundle.manifest.name, bundle.manifest.rows,
                          bundle.manifest.columns, bundle.manifest.nonzeros, bundle.manifest.bcol));
  const LoopNest nest = nest_of(bundle, request.folder);
  check_policy(request.folder, bundle, nest);
  const VerificationReport report =
      request.device == "gpu" ? verify_on_gpu(bundle, nest, progress)
                              : verify_by_emulation(bundle.under_test(nest), bundle.matrix, thorough_effort, progress);
  progress.finish();
  if (request.json || !report.passed() || console.verbosity() != Verbosity::quiet) {
    fmt::print("{}", request.json ? to_json(bundle.manifest.name, report) : print(report));
  }
  return report.passed() ? ExitStatus::done : ExitStatus::check_failed;
}

}  // namespace

void add_verify_command(CLI::App& program, const CommonOptions& common, Action& action) {
  CLI::App* command =
      add_command(program, "verify", "Check a bundle against a float64 reference", "escgen verify bundles/ffn1");
  const auto request = std::make_shared<VerifyRequest>();
  command->add_option("bundle", request->folder, "The bundle's folder, DIR/NAME")->required();
  command
      ->add_option("--device", request->device,
                   "host: run the texts on an emulated grid; gpu: compile with nvcc and run")
      ->check(one_of({"host", "gpu"}))
      ->capture_default_str();
  command->add_flag("--json", request->json, "Print JSON");
  command->callback([request, &common, &action] { action = [=, &common] { return run(*request, common.console()); }; });
}

}  // namespace esc
