// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/written_model.h"

#include <fmt/format.h>

#include <utility>

#include "generator/commands/input.h"
#include "generator/commands/loop_nest_input.h"
#include "generator/ir/nest_in_type.h"
#include "generator/ir/print_function.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/support/file.h"
#include "generator/verify/confined_nest.h"

namespace esc {
namespace {

/// Throws UserError where the nest is not what the epilogue's parts make of the shipped one.
void check_epilogue(const ModelBundle& model, const std::filesystem::path& manifest) {
  if (model.epilogue_parts.empty()) {
    return;
  }
  const LoopNest meant = read_loop_nest(
      {.file = {}, .epilogue = model.epilogue_parts, .layout = parse_layout(model.layout)}, parse_element(model.dtype));
  if (print_function(meant) != model.loop_nest) {
    throw UserError(manifest.string(),
                    fmt::format("names the epilogue '{}', and its loop nest is another one", model.epilogue_parts),
                    "generate the bundle again");
  }
}

}  // namespace

WrittenModel load_model_bundle(const std::filesystem::path& folder) {
  const std::filesystem::path manifest = folder / "manifest.json";
  ModelBundle model = parse_model_manifest(read_bundle_file(manifest), manifest.string());
  LoopNest nest = read_confined_nest(model.loop_nest, manifest.string() + ":loop_nest.c", NestHeaders::of_system);
  nest = written_for(nest, parse_element(model.dtype)).value_or(nest);
  model.nest = nest;
  check_epilogue(model, manifest);
  for (auto& [name, kernel] : model.kernels) {
    kernel.text = read_bundle_file(folder / (name + ".cu"), most_source_bytes);
  }
  return {std::move(model), std::move(nest)};
}

GeneratedLayer generate_variant(const WrittenModel& written, const ModelVariant& variant, const SparseMatrix& matrix,
                                std::shared_ptr<PackingCache> fragments) {
  return generate_layer(matrix, written.nest,
                        {.name = "layer",
                         .source_file = {},
                         .bcol = variant.bcol,
                         .architectures = written.model.architectures,
                         .choice = parse_choice(variant.schedule, variant.schedule_source),
                         .fragments = std::move(fragments)});
}

}  // namespace esc
