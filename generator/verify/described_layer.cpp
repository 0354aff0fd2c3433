// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/described_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "generator/schedule/target.h"
#include "generator/support/error.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

/// The name of the matrix file is in comments, out of which it must not lead.
bool is_file_name(std::string_view name) {
  return std::ranges::none_of(name, [](unsigned char c) { return c < 0x20 || c == 0x7f || c == '/'; });
}

GenerateOptions options_of(const Manifest& manifest, const fs::path& file) {
  if (!is_file_name(manifest.source)) {
    refuse_bundle(file, "has a source that is no file's name");
  }
  GenerateOptions options{.name = manifest.name,
                          .source_file = manifest.source,
                          .bcol = manifest.bcol,
                          .architectures = {},
                          .choice = parse_choice(manifest.schedule, manifest.schedule_source)};
  for (const std::string& architecture : manifest.architectures) {
    options.architectures.push_back(parse_architecture(architecture));
  }
  return options;
}

}  // namespace

void refuse_bundle(const fs::path& place, const std::string& rule) {
  throw UserError(place.string(), rule, "generate the bundle again", ExitStatus::check_failed);
}

GeneratedLayer described_layer(const Manifest& manifest, const SparseMatrix& matrix, const LoopNest& nest,
                               const fs::path& manifest_file) {
  if (manifest.tool_version != tool_version) {
    throw UserError(manifest_file.string(),
                    fmt::format("is of escgen {}, this is escgen {}", manifest.tool_version, tool_version),
                    "verify the bundle with that version, or generate it again");
  }
  try {
    GeneratedLayer generated = generate_layer(matrix, nest, options_of(manifest, manifest_file));
    generated.layer.rounding = manifest.rounding;  // the packed matrix no longer knows
    return generated;
  } catch (const UserError& problem) {
    refuse_bundle(manifest_file, fmt::format("describes what cannot be generated: {}", problem.what()));
  }
}

}  // namespace esc
