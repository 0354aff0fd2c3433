// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/written_model.h"

#include <utility>

#include "generator/schedule/schedule_choice.h"
#include "generator/support/file.h"
#include "generator/verify/confined_nest.h"

namespace esc {

WrittenModel load_model_bundle(const std::filesystem::path& folder) {
  const std::filesystem::path manifest = folder / "manifest.json";
  ModelBundle model = parse_model_manifest(read_file(manifest), manifest.string());
  LoopNest nest = read_confined_nest(model.loop_nest, manifest.string() + ":loop_nest.c", NestHeaders::of_system);
  model.nest = nest;
  for (auto& [name, kernel] : model.kernels) {
    kernel.text = read_file(folder / (name + ".cu"));
  }
  return {std::move(model), std::move(nest)};
}

GeneratedLayer generate_variant(const WrittenModel& written, const ModelVariant& variant, const SparseMatrix& matrix,
                                std::shared_ptr<FragmentShelf> fragments) {
  return generate_layer(matrix, written.nest,
                        {.name = "layer",
                         .source_file = {},
                         .bcol = variant.bcol,
                         .architectures = written.model.architectures,
                         .choice = parse_choice(variant.schedule, variant.schedule_source),
                         .fragments = std::move(fragments)});
}

}  // namespace esc
