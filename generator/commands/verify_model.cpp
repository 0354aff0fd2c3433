// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/verify_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "generator/commands/packed_model.h"
#include "generator/commands/written_model.h"
#include "generator/emit/dispatch.h"
#include "generator/emit/shared_kernel.h"
#include "generator/emit/sources.h"
#include "generator/frontend/format_source.h"
#include "generator/support/file.h"
#include "generator/support/json_result.h"
#include "generator/support/strict_json.h"
#include "generator/support/temporary_folder.h"
#include "generator/verify/cuda_runtime.h"
#include "generator/verify/gpu_check.h"
#include "generator/verify/nvcc.h"
#include "generator/verify/verify.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_bundle(const fs::path& place, const std::string& rule) {
  throw UserError(place.string(), rule, "generate the bundle again", ExitStatus::check_failed);
}

/// A model's bundle and what is found out about it.
class ModelCheck {
 public:
  ModelCheck(const std::string& folder, bool on_gpu)
      : folder_(folder), written_(load_model_bundle(folder_)), packed_(folder_, written_.nest.element()) {
    if (on_gpu) {
      CudaRuntime::expect_device();
      workshop_.emplace();
      predecessor_ = compile_predecessor(workshop_->path());
    }
  }

  const ModelBundle& model() const { return written_.model; }

  /// Of each kernel's report the first line that matters.
  std::vector<std::pair<std::string, VerificationReport>> run(StageProgress& progress) {
    packed_.check(model());
    check_texts();
    progress.begin("checking the layers", model().layers.size());
    std::vector<std::pair<std::string, VerificationReport>> reports;
    std::map<std::string, bool> seen;
    for (const ModelLayer& layer : model().layers) {
      for (std::size_t packing = 0; packing < layer.packings.size(); ++packing) {
        const SparseMatrix matrix = packed_.matrix_of(layer, packing);
        const auto fragments = std::make_shared<PackingCache>();
        for (const ModelVariant& variant : layer.variants) {
          if (variant.packing == packing) {
            const bool is_new = seen.emplace(variant.kernel, true).second;
            check_variant(layer, variant, matrix, fragments, is_new, reports);
          }
        }
      }
      progress.advance(1);
    }
    progress.finish();
    return reports;
  }

 private:
  /// Header, table, build file and manifest are those that the manifest's content gives; nothing else is there.
  void check_texts() const {
    KernelBundle expected = make_model_bundle(
        model(), [](const std::string& name, const std::string& text) { return format_source(text, name); });
    std::vector<std::string> known{packed_file_name};
    for (const BundleFile& file : expected.files) {
      known.push_back(file.name);
      if (read_bundle_file(folder_ / file.name) != file.text) {
        refuse_bundle(folder_ / file.name, "is not what is generated for this manifest");
      }
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
      if (std::ranges::find(known, entry.path().filename().string()) == known.end() || !entry.is_regular_file() ||
          entry.is_symlink()) {
        refuse_bundle(entry.path(), "is no file of a bundle: the build of its users would find it");
      }
    }
  }

  /// The layer is generated again; a kernel that is seen for the first time is run.
  void check_variant(const ModelLayer& layer, const ModelVariant& variant, const SparseMatrix& matrix,
                     const std::shared_ptr<PackingCache>& fragments, bool is_new,
                     std::vector<std::pair<std::string, VerificationReport>>& reports) {
    const GeneratedLayer generated = generate_variant(written_, variant, matrix, fragments);
    const transformer::ModelEntry& entry = layer.packings[variant.packing];
    const SharedKernel shared = shared_kernel(generated.layer, model().name);
    if (entry_of(layer, generated.bytes(), entry.offset).payload_checksum != entry.payload_checksum ||
        shared.numbers != variant.numbers || shared.name != variant.kernel) {
      refuse_bundle(folder_ / "manifest.json",
                    fmt::format("says of {} for bCol {} what its schedule does not give", layer.name, variant.bcol));
    }
    if (!is_new) {
      return;
    }
    const std::string& text = model().kernels.at(variant.kernel).text;
    if (text != format_source(shared.text, shared.name + ".cu")) {
      refuse_bundle(folder_ / (variant.kernel + ".cu"), "is not what is generated for its layers");
    }
    const BundleUnderTest under_test{generated.layer.name,
                                     written_.nest,
                                     dispatch_of(generated.layer),
                                     as_layer_text(text, generated.layer, shared),
                                     {},
                                     generated.bytes()};
    reports.emplace_back(fmt::format("{} with {}", variant.kernel, layer.name),
                         workshop_ ? verify_on_gpu(under_test, generated.layer, matrix)
                                   : verify_by_emulation(under_test, matrix, sample_effort));
  }

  /// The kernel as that of a layer's bundle, whose transformer is the generated one.
  VerificationReport verify_on_gpu(const BundleUnderTest& bundle, const Layer& layer,
                                   const SparseMatrix& matrix) const {
    const TemporaryFolder folder;
    write_file_whole(folder.path() / (bundle.name + ".cu"), bundle.kernel_text);
    write_file_whole(folder.path() / (bundle.name + "_transformer.cpp"), transformer_source(layer));
    const BundleLibrary library(compile_bundle(folder.path(), bundle.name, folder.path()), bundle.name);
    return check_on_gpu(library, predecessor_, bundle.nest, matrix, bundle.dispatch);
  }

  fs::path folder_;
  WrittenModel written_;
  PackedModel packed_;
  std::optional<TemporaryFolder> workshop_;  ///< where kernels run on the GPU
  fs::path predecessor_;
};

}  // namespace

bool is_model_bundle(const std::string& folder) {
  const fs::path manifest = fs::path(folder) / "manifest.json";
  std::error_code ignored;
  if (!fs::is_regular_file(manifest, ignored)) {
    return false;
  }
  const nlohmann::json content = json_in(read_bundle_file(manifest)).value_or(nlohmann::json());
  return content.is_object() && content.contains("kind") && content.at("kind") == "model";
}

namespace {

using KernelReports = std::vector<std::pair<std::string, VerificationReport>>;

std::string to_json(const std::string& name, const KernelReports& reports, bool passed) {
  nlohmann::json kernels = nlohmann::json::array();
  for (const auto& [kernel, report] : reports) {
    kernels.push_back({{"kernel", kernel}, {"passed", report.passed()}});
    if (report.passed()) {
      kernels.back()["relative_error"] = report.worst_run().comparison.error;
    }
  }
  return json_result("verified model", passed ? "passed" : "failed",
                     {{"name", name}, {"passed", passed}, {"kernels", kernels}});
}

/// What is wrong and, where that is asked for, what is right.
std::string kernels_text(const KernelReports& reports, bool with_right_ones) {
  std::string text;
  for (const auto& [kernel, report] : reports) {
    if (!report.passed()) {
      text += fmt::format("WRONG  {}:\n{}", kernel, print(report));
    } else if (with_right_ones) {
      text += fmt::format("ok     {}\n       relative error {:.2e} (at most {:.2e})\n", kernel,
                          report.worst_run().comparison.error, report.tolerance_of(report.worst_run()));
    }
  }
  return text;
}

}  // namespace

ExitStatus verify_model_bundle(const std::string& folder, bool on_gpu, bool as_json, const Console& console) {
  StageProgress progress(console.terminal());
  ModelCheck check(folder, on_gpu);
  const KernelReports reports = check.run(progress);
  const bool passed = std::ranges::all_of(reports, [](const auto& report) { return report.second.passed(); });
  if (as_json) {
    fmt::print("{}", to_json(check.model().name, reports, passed));
  } else if (!passed || console.verbosity() != Verbosity::quiet) {
    print_plain(
        "{} {}: {} {}, each with the first of {} layers that has it;\n       all layers hold the matrices of the "
        "manifest\n{}",
        passed ? "passed" : "failed", on_gpu ? "on the GPU" : "by emulation", reports.size(),
        reports.size() == 1 ? "kernel" : "kernels", check.model().layers.size(),
        kernels_text(reports, console.verbosity() == Verbosity::verbose));
  }
  return passed ? ExitStatus::done : ExitStatus::check_failed;
}

}  // namespace esc
