// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/taken_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "generator/commands/input.h"
#include "generator/emit/earlier_words.h"
#include "generator/ir/print_function.h"
#include "generator/support/file.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

fs::path place_of(const std::string& name, const GenerateMode& mode) { return fs::path(mode.output) / name; }

/// The manifest in a bundle's place; empty where there is none.
std::string manifest_in(const fs::path& place) {
  const fs::path file = place / "manifest.json";
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) ? read_bundle_file(file) : std::string();
}

/// Whether the manifest of a layer says what is asked for, as far as a manifest says that.
bool says(const Manifest& manifest, const LayerRequest& request, const GenerateMode& mode, const LoopNest& nest,
          const SparseMatrix& matrix) {
  std::vector<std::string> architectures;
  std::ranges::transform(architectures_for(request), std::back_inserter(architectures),
                         [](int number) { return fmt::format("sm_{}", number); });
  const bool is_named = !is_looked_up(request.schedule) && mode.compaction;
  const Fingerprint found = fingerprint(matrix);
  return manifest.tool_version == tool_version && manifest.source == printable_file_name(request.matrix) &&
         manifest.bcol == request.bcol && manifest.element == nest.element() &&
         manifest.loop_nest == print_function(nest) && manifest.architectures == architectures &&
         manifest.pattern_sha256 == found.pattern && manifest.values_sha256 == found.values &&
         (!is_named || text_of(parse_choice(manifest.schedule, "")) == text_of(parse_choice(request.schedule, "user")));
}

}  // namespace

void refuse_taken_place(const LayerRequest& request, const GenerateMode& mode, const LoopNest& nest,
                        const SparseMatrix& matrix) {
  const std::set<std::string> names{request.name + ".h",      request.name + ".cu", request.name + "_transformer.cpp",
                                    request.name + ".packed", "CMakeLists.txt",     "manifest.json"};
  check_place(request.name, mode.output, [&](const std::string& file) { return names.contains(file); });
  const fs::path place = place_of(request.name, mode);
  const std::string on_disk = manifest_in(place);
  if (mode.force || on_disk.empty()) {
    return;
  }
  std::optional<Manifest> manifest;
  try {
    manifest = parse_manifest(on_disk, place / "manifest.json");
  } catch (const UserError&) {
    throw DifferentBundle(place);
  }
  const bool is_measured_alike = has_measurement(on_disk, "verification") == mode.verify &&
                                 has_measurement(on_disk, "resources") == mode.resources;
  if (!is_measured_alike || !says(*manifest, request, mode, nest, matrix)) {
    throw DifferentBundle(place);
  }
}

void refuse_taken_place(const GeneratedLayer& generated, const KernelBundle& bundle, const GenerateMode& mode) {
  const std::string on_disk = manifest_in(place_of(bundle.name, mode));
  const KernelBundle now = with_manifest(bundle, manifest_as_measured(generated.layer, on_disk));
  static_cast<void>(is_there_already(in_words_on_disk(now, mode.output), mode.output, mode.force));
}

void refuse_taken_place(const ModelRequest& request, const GenerateMode& mode,
                        const std::optional<ModelBundle>& on_disk) {
  const std::set<std::string> names{request.name + ".h", request.name + ".cpp", packed_file_name, "CMakeLists.txt",
                                    "manifest.json"};
  check_place(request.name, mode.output, [&](const std::string& file) {
    return names.contains(file) || (file.starts_with(request.name + "_") && file.ends_with(".cu"));
  });
  const fs::path place = place_of(request.name, mode);
  if (mode.force || manifest_in(place).empty()) {
    return;
  }
  std::error_code ignored;
  const bool is_same =
      on_disk && on_disk->version == tool_version && on_disk->source == printable_file_name(request.layer.matrix) &&
      on_disk->architectures == architectures_for(request.layer) &&
      on_disk->epilogue_parts == request.layer.nest.epilogue &&
      fs::exists(place / packed_file_name, ignored) == request.packed &&
      std::ranges::all_of(on_disk->kernels,
                          [&](const auto& kernel) { return kernel.second.verification.has_value() == mode.verify; });
  if (!is_same) {
    throw DifferentBundle(place);
  }
}

}  // namespace esc
