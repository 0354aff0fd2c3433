// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>

#include "generator/emit/measured_json.h"
#include "generator/emit/model_bundle.h"
#include "generator/emit/verification_record.h"
#include "generator/support/error.h"
#include "generator/support/identifier.h"
#include "generator/support/number_in.h"
#include "generator/support/strict_json.h"

namespace esc {
namespace {

using nlohmann::json;

constexpr int model_manifest_version = 1;

json verification_entry(const ModelKernel& kernel) {
  json entry = verification_json(kernel.verification);
  if (kernel.verification) {
    entry["layer"] = kernel.verified_with;
  }
  return entry;
}

std::optional<VerificationRecord> verification_of(const json& entry) {
  if (entry.is_null()) {
    return std::nullopt;
  }
  return VerificationRecord{.passed = entry.at("passed"),
                            .error = entry.at("relative_error"),
                            .tolerance = entry.at("tolerance"),
                            .method = entry.at("method"),
                            .columns = entry.at("columns"),
                            .rows_covered = entry.at("rows_covered"),
                            .skipped = entry.at("skipped")};
}

json layer_entry(const ModelLayer& layer) {
  json packings = json::array();
  for (const transformer::ModelEntry& packing : layer.packings) {
    packings.push_back({{"offset", packing.offset},
                        {"bytes", packing.bytes},
                        {"description", packing.description},
                        {"checksum", packing.payload_checksum}});
  }
  json variants = json::array();
  for (const ModelVariant& variant : layer.variants) {
    variants.push_back({{"bcol", variant.bcol},
                        {"capability", variant.capability},
                        {"kernel", variant.kernel},
                        {"numbers", variant.numbers},
                        {"packing", variant.packing},
                        {"schedule", variant.schedule},
                        {"schedule_source", variant.schedule_source},
                        {"made_of", variant.made_of}});
    json& entry = variants.back();
    if (variant.measured) {
      entry["measured"] = measured_json(*variant.measured);
    }
    if (!variant.not_measured.empty()) {
      entry["not_measured"] = variant.not_measured;
    }
    if (!variant.notes.empty()) {
      entry["notes"] = variant.notes;
    }
    if (variant.planned_bytes > 0) {
      entry["planned_bytes"] = variant.planned_bytes;
    }
    if (variant.beside_dense) {
      entry.update(comparison_json(*variant.beside_dense));
    }
  }
  return {{"name", layer.name},
          {"m", layer.rows},
          {"k", layer.columns},
          {"nnz", layer.nonzeros},
          {"pattern_sha256", layer.fingerprint.pattern},
          {"values_sha256", layer.fingerprint.values},
          {"packings", packings},
          {"variants", variants}};
}

ModelLayer layer_of(const json& entry) {
  ModelLayer layer{.name = entry.at("name"),
                   .rows = entry.at("m"),
                   .columns = entry.at("k"),
                   .nonzeros = entry.at("nnz"),
                   .fingerprint = {.pattern = entry.at("pattern_sha256"), .values = entry.at("values_sha256")}};
  for (const json& packing : entry.at("packings")) {
    layer.packings.push_back({.offset = packing.at("offset"),
                              .bytes = packing.at("bytes"),
                              .description = packing.at("description"),
                              .layer = digest_of(layer),
                              .payload_checksum = packing.at("checksum")});
  }
  for (const json& variant : entry.at("variants")) {
    layer.variants.push_back({.bcol = variant.at("bcol"),
                              .capability = variant.at("capability"),
                              .kernel = variant.at("kernel"),
                              .numbers = variant.at("numbers"),
                              .packing = variant.at("packing"),
                              .schedule = variant.at("schedule"),
                              .schedule_source = variant.at("schedule_source"),
                              .measured = variant.contains("measured")
                                              ? std::optional(measured_ratios(variant.at("measured")))
                                              : std::nullopt,
                              .not_measured = variant.value("not_measured", ""),
                              .notes = variant.value("notes", std::vector<std::string>()),
                              .planned_bytes = variant.value("planned_bytes", std::uint64_t{0}),
                              .beside_dense = dense_comparison(variant),
                              .made_of = variant.value("made_of", std::vector<std::string>())});
  }
  return layer;
}

int architecture_in(const std::string& text, const std::string& file) {
  const auto number = text.starts_with("sm_") ? number_in<int>(std::string_view(text).substr(3)) : std::nullopt;
  if (!number || *number <= 0) {
    throw UserError(file, "is not a manifest: an architecture is none", "generate the bundle again");
  }
  return *number;
}

/// What a manifest says must be names of files of the bundle and places in the file, whoever wrote it.
void check(const ModelBundle& model, const std::string& file) {
  const auto require = [&](bool holds, const std::string& rule) {
    if (!holds) {
      throw UserError(file, rule, "generate the bundle again");
    }
  };
  require(is_identifier(model.name), "has a name that cannot be the prefix of C functions");
  require(!model.layers.empty(), "has no layers");
  for (const auto& [name, kernel] : model.kernels) {
    require(is_identifier(name) && name.starts_with(model.name + "_"),
            "has a kernel whose name cannot be that of a file of the bundle");
  }
  for (const TuningRecord& tuning : model.tunings) {
    require(!tuning.fastest_first().empty(),
            fmt::format("has measurements of {}, none of which is right", tuning.layer));
  }
  std::set<std::string> names;
  std::uint64_t next =
      transformer::header_bytes;  // matrices lie one after the other, so that the file is as long as they say
  for (const ModelLayer& layer : model.layers) {
    require(names.insert(layer.name).second, fmt::format("layer {} is there twice", layer.name));
    require(!layer.variants.empty(), fmt::format("has the layer {} without kernels", layer.name));
    for (const ModelVariant& variant : layer.variants) {
      require(model.kernels.contains(variant.kernel) && variant.packing < layer.packings.size(),
              fmt::format("has a kernel of the layer {} that is not there", layer.name));
    }
    for (const transformer::ModelEntry& packing : layer.packings) {
      require(packing.offset % transformer::section_alignment == 0 && packing.bytes >= transformer::header_bytes &&
                  packing.offset <= model.file_bytes && packing.bytes <= model.file_bytes - packing.offset,
              fmt::format("has a packed matrix of the layer {} outside the file", layer.name));
      require(packing.offset == next,
              fmt::format("has a packed matrix of the layer {} that lies where another one does, or not behind it",
                          layer.name));
      next = transformer::round_up(packing.offset + packing.bytes, transformer::section_alignment);
    }
  }
}

}  // namespace

std::string model_manifest_json(const ModelBundle& model) {
  json layers = json::array();
  for (const ModelLayer& layer : model.layers) {
    layers.push_back(layer_entry(layer));
  }
  json kernels = json::object();
  for (const auto& [name, kernel] : model.kernels) {
    kernels[name] = {{"schedule", kernel.schedule},
                     {"sha256", sha256_of_text(kernel.text)},
                     {"verification", verification_entry(kernel)}};
  }
  std::vector<std::string> architectures;
  for (const int architecture : model.architectures) {
    architectures.push_back(fmt::format("sm_{}", architecture));
  }
  json manifest{{"format_version", model_manifest_version},
                {"kind", "model"},
                {"tool_version", model.version},
                {"name", model.name},
                {"source", model.source},
                {"dtype", model.dtype},
                {"layout", model.layout},
                {"loop_nest", model.loop_nest},
                {"epilogue", model.nest.epilogue.has_value()},
                {"epilogue_parts", model.epilogue_parts},
                {"architectures", architectures},
                {"pattern_sha256", model.pattern()},
                {"packed_bytes", model.file_bytes},
                {"layers", layers},
                {"kernels", kernels},
                {"left_out", model.left_out}};
  if (!model.tunings.empty()) {
    std::ranges::transform(model.tunings, std::back_inserter(manifest["tunings"]), tuning_json);
  }
  return manifest.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

ModelBundle parse_model_manifest(const std::string& text, const std::string& file) {
  try {
    const json manifest = parse_strict_json(text, file);
    if (!manifest.is_object() || !manifest.contains("kind") || manifest.at("kind") != "model") {
      throw UserError(file, "is not the manifest of a model's bundle",
                      "name the folder that escgen generate MODEL has written");
    }
    if (manifest.at("format_version") != model_manifest_version) {
      throw UserError(file, fmt::format("has format version {}", manifest.at("format_version").dump()),
                      fmt::format("this program reads version {}", model_manifest_version));
    }
    ModelBundle model{.name = manifest.at("name"),
                      .source = manifest.at("source"),
                      .version = manifest.at("tool_version"),
                      .dtype = manifest.at("dtype"),
                      .layout = manifest.at("layout"),
                      .loop_nest = manifest.at("loop_nest"),
                      .nest = {},
                      .epilogue_parts = manifest.value("epilogue_parts", ""),  // early bundles do not say
                      .architectures = {},
                      .layers = {},
                      .kernels = {},
                      .left_out = manifest.at("left_out"),
                      .file_bytes = manifest.at("packed_bytes")};
    for (const std::string architecture : manifest.at("architectures")) {
      model.architectures.push_back(architecture_in(architecture, file));
    }
    for (const json& layer : manifest.at("layers")) {
      model.layers.push_back(layer_of(layer));
    }
    for (const auto& [name, kernel] : manifest.at("kernels").items()) {
      model.kernels[name] = {
          .text = {},
          .schedule = kernel.at("schedule"),
          .verified_with = kernel.at("verification").is_null() ? "" : kernel.at("verification").at("layer"),
          .verification = verification_of(kernel.at("verification")),
          .text_sha256 = kernel.at("sha256")};
    }
    for (const json& tuning : manifest.value("tunings", json::array())) {
      model.tunings.push_back(tuning_record(tuning));
    }
    check(model, file);
    return model;
  } catch (const json::exception& problem) {
    throw UserError(file, fmt::format("is not a manifest: {}", problem.what()), "generate the bundle again");
  }
}

}  // namespace esc
