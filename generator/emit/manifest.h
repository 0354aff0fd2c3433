// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generator/emit/layer.h"
#include "generator/emit/verification_record.h"

namespace esc {

/// What nvcc says of one kernel on one architecture.
struct KernelResources {
  std::string kernel;
  int architecture = 0;
  int registers = 0;
  int shared_bytes = 0;
  int spill_bytes = 0;
  bool operator==(const KernelResources&) const = default;
};

/// How a nest in canonical form, or what was lowered from it, has B and C: "kn", "nk" where both are transposed, or
/// "nest" where only that says it.
const char* layout_of(const LoopNest& nest);

/// manifest.json: where the bundle came from and what it needs. Keys are sorted, numbers reproducible. A verification
/// that was not done is null, as are resources that were not asked for.
std::string manifest_json(const Layer& layer, const std::optional<VerificationRecord>& verification,
                          const std::optional<std::vector<KernelResources>>& resources);

/// The manifest with the words of the one `on_disk` for the schedule, where they say the same: an earlier release had
/// others. Where that was measured, and the user gives it by its text, with that record, too.
std::string manifest_in_words_of(const std::string& on_disk, const std::string& manifest);

/// The manifest of the layer with what was measured, verification and resources, as the manifest `on_disk` has it, and
/// in its words.
std::string manifest_as_measured(const Layer& layer, const std::string& on_disk);

/// Whether a manifest says this of its "verification" or "resources".
bool has_measurement(const std::string& manifest, const char* key);

/// What a reader of a bundle needs from its manifest.
struct Manifest {
  std::string name;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t bcol = 0;
  std::int64_t nonzeros = 0;
  std::string pattern_sha256;
  std::string values_sha256;
  std::string layout;  ///< "kn", "nk" or "nest"
  ScalarType element = ScalarType::f32;
  std::string schedule;
  std::string loop_nest;  ///< the input as a C function
  std::string tool_version;
  std::string source;           ///< base name of the matrix file
  std::string schedule_source;  ///< who chose the schedule
  std::vector<std::string> architectures;
  Rounding rounding = {};  ///< of the values of the source, where the elements have fewer digits than those
};

/// Whether the text is the manifest of a bundle of this name, in whatever version of the format.
bool is_manifest_of(const std::string& text, const std::string& name);

/// Throws UserError (place `file`) for text that is not a manifest of a version this program knows.
Manifest parse_manifest(const std::string& text, const std::string& file);

}  // namespace esc
