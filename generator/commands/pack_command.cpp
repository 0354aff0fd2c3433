// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include "generator/commands/commands.h"
#include "generator/commands/input.h"
#include "generator/commands/layer_request.h"
#include "generator/commands/written_model.h"
#include "generator/ir/product_digits.h"
#include "generator/matrix/block_diagonal.h"
#include "generator/model/model.h"
#include "generator/support/file.h"
#include "generator/support/json_result.h"
#include "generator/support/plain_text.h"
#include "generator/support/scratch_file.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

struct PackRequest {
  std::string folder;
  std::string weights;
  bool allow_nonfinite = false;
  bool json = false;
};

void print_result(const PackRequest& request, const ModelBundle& model, WriteOutcome outcome) {
  const std::string file = (fs::path(request.folder) / packed_file_name).string();
  const std::string status = outcome == WriteOutcome::written ? "written" : "unchanged";
  if (request.json) {
    fmt::print("{}", json_result("packed model", status,
                                 {{"name", model.name},
                                  {"file", file},
                                  {"layers", model.layers.size()},
                                  {"packed_bytes", model.file_bytes}}));
    return;
  }
  print_plain("packed     {} of {} layers, {} bytes ({})\n", file, model.layers.size(), model.file_bytes, status);
}

/// The weights' tensor of a layer, in the pattern that the layer's kernels are made for.
SparseMatrix matrix_of(const ModelLayer& layer, const PackRequest& request, const LoopNest& nest,
                       const Console& console) {
  LayerRequest one;
  one.matrix = model_file(request.weights).string() + ":" + layer.name;
  one.read.allow_nonfinite = request.allow_nonfinite;
  SparseMatrix matrix =
      block_diagonal(read_stored_matrix(one, nest, console, StageProgress::silent()).matrix, digits_of(nest));
  if (const std::string found = fingerprint(matrix).pattern; found != layer.fingerprint.pattern) {
    throw UserError(
        one.matrix,
        fmt::format(
            "is {} x {} with {} non-zeros, in another pattern than the {} x {} with {} that its kernels are made for",
            matrix.rows, matrix.columns, matrix.nonzeros(), layer.rows, layer.columns, layer.nonzeros),
        "generate the bundle again, from these weights");
  }
  return matrix;
}

/// Packs a layer again and puts it where the bundle has it.
void pack_layer(ModelLayer& layer, const PackRequest& request, const WrittenModel& written, const ScratchFile& file,
                const Console& console) {
  const SparseMatrix matrix = matrix_of(layer, request, written.nest, console);
  layer.fingerprint.values = fingerprint(matrix).values;
  const auto fragments = std::make_shared<PackingCache>();
  for (std::size_t number = 0; number < layer.packings.size(); ++number) {
    const auto variant = std::ranges::find(layer.variants, number, &ModelVariant::packing);
    if (variant == layer.variants.end()) {
      throw UserError(request.folder, fmt::format("has a packed matrix of {} that no kernel reads", layer.name),
                      "generate the bundle again");
    }
    const GeneratedLayer packed = generate_variant(written, *variant, matrix, fragments);
    transformer::ModelEntry& entry = layer.packings[number];
    const transformer::ModelEntry found = entry_of(layer, packed.bytes(), entry.offset);
    if (found.bytes != entry.bytes || found.description != entry.description) {
      throw UserError(request.folder,
                      fmt::format("was made by a version of this program that packs {} in another way", layer.name),
                      "generate the bundle again");
    }
    entry = found;
    file.write(packed.bytes(), entry.offset);
  }
}

BundleFile text_of_file(const fs::path& folder, const std::string& name) {
  return {name, read_bundle_file(folder / name), nullptr, 0};
}

/// The bundle with these packed matrices: its other files are as they were, but for the manifest.
KernelBundle with_packed(const ModelBundle& model, const fs::path& folder, const ScratchFile& file) {
  KernelBundle bundle{model.name, {{"manifest.json", model_manifest_json(model), nullptr, 0}}};
  for (const std::string& name : {model.name + ".h", model.name + ".cpp", std::string("CMakeLists.txt")}) {
    bundle.files.push_back(text_of_file(folder, name));
  }
  for (const auto& [name, kernel] : model.kernels) {
    bundle.files.push_back({name + ".cu", kernel.text, nullptr, 0});
  }
  bundle.files.push_back(packed_file(model, file));
  return bundle;
}

ExitStatus run(const PackRequest& request, const Console& console) {
  const fs::path folder = fs::weakly_canonical(request.folder);
  WrittenModel written = load_model_bundle(folder);
  ModelBundle& model = written.model;
  if (folder.filename() != model.name) {
    throw UserError(request.folder, fmt::format("holds the bundle {}, and has another name", model.name),
                    "give the folder the bundle's name");
  }
  const ScratchFile file(folder.parent_path());
  StageProgress progress(console.terminal());
  progress.begin("packing the layers", model.layers.size());
  for (ModelLayer& layer : model.layers) {
    pack_layer(layer, request, written, file, console);
    progress.advance(1);
  }
  progress.finish();
  print_result(request, model, write_bundle(with_packed(model, folder, file), folder.parent_path(), true));
  return ExitStatus::done;
}

}  // namespace

void add_pack_command(CLI::App& program, const CommonOptions& common, Action& action) {
  CLI::App* command =
      add_command(program, "pack", "Write model.packed of a model's bundle, for values in the same patterns",
                  "escgen pack kernels/model model.safetensors");
  const auto request = std::make_shared<PackRequest>();
  command->add_option("bundle", request->folder, "The bundle's folder, as escgen generate MODEL has written it")
      ->required();
  command->add_option("weights", request->weights, "The model's file or folder, with tensors of the same names")
      ->required();
  command->add_flag("--allow-nonfinite", request->allow_nonfinite, "Accept NaN and infinity in the weights");
  command->add_flag("--json", request->json, "Print the result as JSON");
  command->callback([request, &common, &action] { action = [=, &common] { return run(*request, common.console()); }; });
}

}  // namespace esc
