// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/manifest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "generator/ir/print_function.h"
#include "generator/matrix/typed_elements.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/support/error.h"
#include "generator/support/identifier.h"
#include "generator/support/limits.h"
#include "generator/support/strict_json.h"

namespace esc {
namespace {

using nlohmann::json;

constexpr int manifest_version = 2;

json schedule_entry(const Layer& layer) {
  std::vector<std::string> directives;
  for (const Directive& directive : directives_of(layer.choice, layer.input.finishes_sums())) {
    directives.push_back(print(directive));
  }
  return {{"text", text_of(layer.choice)}, {"directives", directives}, {"source", layer.choice.source}};
}

json resources_entry(const std::optional<std::vector<KernelResources>>& resources) {
  if (!resources) {
    return nullptr;
  }
  json entries = json::array();
  for (const KernelResources& one : *resources) {
    entries.push_back({{"kernel", one.kernel},
                       {"architecture", fmt::format("sm_{}", one.architecture)},
                       {"registers", one.registers},
                       {"shared_bytes", one.shared_bytes},
                       {"spill_bytes", one.spill_bytes}});
  }
  return entries;
}

json packed_entry(const transformer::RegionFormat& format) {
  json classes = json::array();
  for (std::uint32_t index = 0; index < format.counts.class_count; ++index) {
    classes.push_back(
        {{"quads", format.counts.classes[index].packets}, {"panels", format.counts.classes[index].row_tiles}});
  }
  return {{"version", transformer::RegionFormat::version},
          {"height", format.shape.height},
          {"warp_panels", format.shape.warp_row_tiles},
          {"block_panels", format.shape.block_row_tiles},
          {"column_type", transformer::c_name(format.column)},
          {"every_column", format.counts.every_column},
          {"classes", classes}};
}

json packed_entry(const transformer::TaskFormat& format) {
  return {{"version", transformer::TaskFormat::version},
          {"longest", format.shape.longest},
          {"light", format.shape.light},
          {"block_heavy", format.shape.block_heavy},
          {"block_light", format.shape.block_light},
          {"tasks", format.counts.tasks},
          {"heavy", format.counts.heavy},
          {"split_rows", format.counts.split_rows}};
}

json packed_entry(const transformer::FragmentFormat& format) {
  return {{"version", transformer::FragmentFormat::version},
          {"block_panels", format.shape.block_row_tiles},
          {"steps", format.shape.steps},
          {"quarter_steps", 0},  // of 16 bits, which earlier versions had
          {"dense", format.is_dense()},
          {"listed", format.shape.listed},
          {"placed", format.is_placed()},
          {"extras", format.shape.residuals},
          {"rounds", format.counts.rounds}};
}

json packed_entry(const transformer::GatherFormat& format) {
  return {{"version", transformer::GatherFormat::version}, {"height", format.shape.height},
          {"block_panels", format.shape.block_row_tiles},  {"steps", format.shape.steps},
          {"list_pieces", format.shape.list_pieces},       {"pieces", format.counts.pieces}};
}

json packed_entry(const transformer::BitmapFormat& format) {
  return {{"version", transformer::BitmapFormat::version},
          {"height", format.shape.height},
          {"most_words", format.shape.most_words},
          {"pieces", format.counts.pieces}};
}

json packed_entry(const transformer::Sparse24Format& format) {
  return {{"version", transformer::Sparse24Format::version}, {"height", format.shape.height}};
}

json packed_entry(const transformer::ListFormat& format) {
  json sections = json::array();
  for (const transformer::Section& section : format.sections) {
    sections.push_back({{"name", section.name},
                        {"type", transformer::c_name(section.type)},
                        {"count", section.count},
                        {"offset", section.offset}});
  }
  return {{"version", transformer::ListFormat::version},
          {"height", format.shape.height},
          {"max_list_columns", format.shape.max_list_columns},
          {"lists", format.counts.lists},
          {"sections", sections}};
}

}  // namespace

const char* layout_of(const LoopNest& nest) {
  const std::optional<Layout>& b = nest.array(ArrayRole::dense).layout;
  const std::optional<Layout>& c = nest.array(ArrayRole::output).layout;
  const bool is_nk = b && c && is_column_major(*b) && is_column_major(*c);
  return !b && !c ? "kn" : is_nk ? "nk" : "nest";
}

std::string manifest_json(const Layer& layer, const std::optional<VerificationRecord>& verification,
                          const std::optional<std::vector<KernelResources>>& resources) {
  std::vector<std::string> architectures;
  for (const int architecture : layer.architectures) {
    architectures.push_back(fmt::format("sm_{}", architecture));
  }
  json manifest{{"format_version", manifest_version},
                {"tool_version", tool_version},
                {"name", layer.name},
                {"source", layer.source_file},
                {"m", layer.statistics.rows},
                {"k", layer.statistics.columns},
                {"bcol", layer.bcol},
                {"dtype", name_of(layer.lowered.element())},
                {"layout", layout_of(layer.lowered)},
                {"nnz", layer.statistics.nonzeros},
                {"pattern_sha256", layer.fingerprint.pattern},
                {"values_sha256", layer.fingerprint.values},
                {"loop_nest", print_function(layer.input)},
                {"family", family_of(layer.choice)},
                {"schedule", schedule_entry(layer)},
                {"architectures", architectures},
                {"packed_bytes", packed_bytes(layer)},
                {"csr_bytes", layer.statistics.csr_bytes},
                {"packed_format", std::visit([](const auto& format) { return packed_entry(format); }, layer.format)},
                {"verification", verification_json(verification)},
                {"resources", resources_entry(resources)}};
  if (is_rounded(layer.lowered.element())) {
    manifest["rounding"] = {{"became_zero", layer.rounding.became_zero},
                            {"became_infinite", layer.rounding.became_infinite}};
  }
  if (layer.tuning) {
    manifest["tuning"] = tuning_json(*layer.tuning);
  }
  return manifest.dump(2) + "\n";
}

namespace {

/// Whether reading the text of a manifest and printing what it says gives `printed`.
template <typename Print>
bool says(const json& text, const json& printed, const Print& print_again) {
  try {
    return text.is_string() && json(print_again(text.get<std::string>())) == printed;
  } catch (const UserError&) {
    return false;
  }
}

/// The schedule as the manifest on disk says it, where it says the same in words of an earlier release.
json schedule_as_said(json schedule, const json& found) {
  if (!found.is_object()) {
    return schedule;
  }
  const json text = found.value("text", json());
  if (says(text, schedule.at("text"), [](const std::string& one) { return text_of(parse_choice(one, "")); })) {
    schedule["text"] = text;
  }
  const json directives = found.value("directives", json());
  json& printed = schedule.at("directives");
  for (std::size_t at = 0; directives.is_array() && directives.size() == printed.size() && at < printed.size(); ++at) {
    if (says(directives[at], printed[at], [](const std::string& one) { return print(parse_directive(one)); })) {
      printed[at] = directives[at];
    }
  }
  return schedule;
}

/// Adds what the manifest on disk says of how its schedule was found, where it was measured, and the one that the user
/// gives is the same.
void keep_tuning(json& manifest, const json& found) {
  json& schedule = manifest.at("schedule");
  const bool is_same = found.is_object() && found.contains("tuning") && found.contains("schedule") &&
                       found.at("schedule").is_object() && schedule.at("source") == "user" &&
                       found.at("schedule").value("text", json()) == schedule.at("text");
  if (is_same) {
    manifest["tuning"] = found.at("tuning");
    schedule["source"] = found.at("schedule").value("source", json());
  }
}

}  // namespace

std::string manifest_in_words_of(const std::string& on_disk, const std::string& manifest) {
  const json found = json_in(on_disk).value_or(json());
  json result = json::parse(manifest);
  result["schedule"] =
      schedule_as_said(result.at("schedule"), found.is_object() ? found.value("schedule", json()) : json());
  keep_tuning(result, found);
  // The text of a damaged manifest need not be UTF-8.
  return result.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string manifest_as_measured(const Layer& layer, const std::string& on_disk) {
  const json found = json_in(on_disk).value_or(json());
  json manifest = json::parse(manifest_json(layer, std::nullopt, std::nullopt));
  for (const char* measured : {"verification", "resources"}) {
    manifest[measured] = found.is_object() ? found.value(measured, json()) : json();
  }
  return manifest_in_words_of(on_disk, manifest.dump(-1, ' ', false, json::error_handler_t::replace));
}

bool has_measurement(const std::string& manifest, const char* key) {
  const json found = json_in(manifest).value_or(json());
  return found.is_object() && !found.value(key, json()).is_null();
}

namespace {

/// The library's message without the label before it.
std::string plain_words(const json::exception& problem) {
  const std::string text = problem.what();
  const auto label = text.find("] ");
  return label == std::string::npos ? text : text.substr(label + 2);
}

/// A whole number from `least`, which is not negative, to `most`.
std::int64_t whole_number(const json& manifest, const char* key, std::int64_t least, std::int64_t most,
                          const std::string& file) {
  const json& value = manifest.at(key);
  // What does not fit into 64 bits with a sign becomes negative here.
  const std::int64_t number = value.is_number_integer() ? value.get<std::int64_t>() : -1;
  if (number < least || number > most) {
    throw UserError(file,
                    fmt::format("has {} {}, which is no whole number from {} to {}", key, value.dump(), least, most),
                    "generate the bundle again");
  }
  return number;
}

/// What became of the values; nothing where they are those of the source.
Rounding rounding_of(const json& manifest, const std::string& file) {
  if (!manifest.contains("rounding")) {
    return {};
  }
  const json& rounding = manifest.at("rounding");
  return {.became_zero = whole_number(rounding, "became_zero", 0, most_nonzeros, file),
          .became_infinite = whole_number(rounding, "became_infinite", 0, most_nonzeros, file)};
}

/// A word of which the manifests of this version have one of a few.
void check_word(const json& manifest, const char* key, const std::vector<std::string>& known, const std::string& file) {
  if (std::ranges::none_of(known, [&](const std::string& word) { return manifest.at(key) == word; })) {
    throw UserError(file,
                    fmt::format("has {} {}; this program knows \"{}\"", key, manifest.at(key).dump(),
                                fmt::join(known, "\" and \"")),
                    "generate the bundle again");
  }
}

/// The prefix of C functions, which is also the name of files.
std::string identifier(const json& manifest, const char* key, const std::string& file) {
  const std::string name = manifest.at(key);
  if (!is_identifier(name)) {
    throw UserError(file,
                    fmt::format("has {} {}, which cannot be the prefix of C functions", key, manifest.at(key).dump()),
                    "generate the bundle again");
  }
  return name;
}

}  // namespace

bool is_manifest_of(const std::string& text, const std::string& name) {
  const json manifest = json_in(text).value_or(json());
  const auto is_text = [&](const char* key) { return manifest.contains(key) && manifest.at(key).is_string(); };
  return manifest.is_object() && manifest.contains("format_version") && is_text("tool_version") &&
         is_text("pattern_sha256") && is_text("name") && manifest.at("name") == name;
}

Manifest parse_manifest(const std::string& text, const std::string& file) {
  try {
    const json manifest = parse_strict_json(text, file);
    if (manifest.at("format_version") != manifest_version) {
      throw UserError(file, fmt::format("has format version {}", manifest.at("format_version").dump()),
                      fmt::format("this program reads version {}", manifest_version));
    }
    check_word(manifest, "layout", {"kn", "nk", "nest"}, file);
    check_word(manifest, "dtype", kernel_element_names(), file);
    return {.name = identifier(manifest, "name", file),
            .rows = whole_number(manifest, "m", 1, largest_dimension, file),
            .columns = whole_number(manifest, "k", 1, largest_dimension, file),
            .bcol = whole_number(manifest, "bcol", 1, most_columns_of_b, file),
            .nonzeros = whole_number(manifest, "nnz", 0, most_nonzeros, file),
            .pattern_sha256 = manifest.at("pattern_sha256"),
            .values_sha256 = manifest.at("values_sha256"),
            .layout = manifest.at("layout"),
            .element = *kernel_element(manifest.at("dtype").get<std::string>()),
            .schedule = manifest.at("schedule").at("text"),
            .loop_nest = manifest.at("loop_nest"),
            .tool_version = manifest.at("tool_version"),
            .source = manifest.at("source"),
            .schedule_source = manifest.at("schedule").at("source"),
            .architectures = manifest.at("architectures"),
            .rounding = rounding_of(manifest, file)};
  } catch (const json::exception& problem) {
    throw UserError(file, fmt::format("is not a manifest: {}", plain_words(problem)), "generate the bundle again");
  }
}

}  // namespace esc
