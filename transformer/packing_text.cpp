// SPDX-License-Identifier: Apache-2.0
#include "transformer/packing_text.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>
#include <vector>

namespace esc {

// Embedded by CMakeLists.txt: the headers of the same names, whole.
extern const std::string_view packed_bytes_file;
extern const std::string_view half_bits_file;
extern const std::string_view tensor_float_file;
extern const std::string_view description_file;
extern const std::string_view row_tile_sources_file;
extern const std::string_view stored_rows_file;
extern const std::string_view pattern_check_file;
extern const std::string_view list_format_file;
extern const std::string_view list_packing_file;
extern const std::string_view region_format_file;
extern const std::string_view region_packing_file;
extern const std::string_view task_format_file;
extern const std::string_view task_packing_file;
extern const std::string_view fragment_format_file;
extern const std::string_view packed_tile_slots_file;
extern const std::string_view fragment_slots_file;
extern const std::string_view placed_packing_file;
extern const std::string_view fragment_packing_file;
extern const std::string_view gather_format_file;
extern const std::string_view gather_packing_file;
extern const std::string_view packed_tile_sizes_file;
extern const std::string_view tile_sources_file;
extern const std::string_view packed_tile_elements_file;
extern const std::string_view bitmap_format_file;
extern const std::string_view bitmap_packing_file;
extern const std::string_view sparse24_format_file;
extern const std::string_view sparse24_packing_file;
extern const std::string_view model_format_file;

namespace transformer {
namespace {

std::string_view between_markers(std::string_view file) {
  constexpr std::string_view begin = "// [packing text begins]\n";
  constexpr std::string_view end = "// [packing text ends]\n";
  const std::size_t first = file.find(begin);
  const std::size_t last = file.find(end);
  if (first == file.npos || last == file.npos) {
    throw std::logic_error("a header of the packing text has lost its markers");
  }
  return file.substr(first + begin.size(), last - first - begin.size());
}

/// What is a format's own in a generated transformer.
struct FormatText {
  const char* type;
  std::vector<std::string_view> format;
  std::vector<std::string_view> packing;
};

FormatText text_of(const ListFormat&) { return {"ListFormat", {list_format_file}, {list_packing_file}}; }
FormatText text_of(const RegionFormat&) { return {"RegionFormat", {region_format_file}, {region_packing_file}}; }
FormatText text_of(const TaskFormat&) { return {"TaskFormat", {task_format_file}, {task_packing_file}}; }
FormatText text_of(const FragmentFormat&) {
  return {"FragmentFormat",
          {fragment_format_file},
          {packed_tile_slots_file, fragment_slots_file, placed_packing_file, fragment_packing_file}};
}
FormatText text_of(const GatherFormat&) { return {"GatherFormat", {gather_format_file}, {gather_packing_file}}; }
FormatText text_of(const BitmapFormat&) {
  return {"BitmapFormat",
          {packed_tile_sizes_file, bitmap_format_file},
          {tile_sources_file, packed_tile_elements_file, bitmap_packing_file}};
}
FormatText text_of(const Sparse24Format&) {
  return {"Sparse24Format",
          {packed_tile_sizes_file, sparse24_format_file},
          {tile_sources_file, packed_tile_elements_file, sparse24_packing_file}};
}

}  // namespace

std::string packing_text(const PackedFormat& format, Reading reading) {
  const FormatText own = std::visit([](const auto& known) { return text_of(known); }, format);
  const bool is_half = size_of(std::visit([](const auto& known) { return known.shape.element; }, format)) == 2;
  std::string text(between_markers(packed_bytes_file));
  const bool is_rounded = reading == Reading::rounded_to_tf32;
  text += is_half ? between_markers(half_bits_file) : "";
  text += is_rounded ? between_markers(tensor_float_file) : "";
  text += between_markers(description_file);
  for (const std::string_view file : own.format) {
    text += between_markers(file);
  }
  text += between_markers(row_tile_sources_file);
  text += is_rounded ? between_markers(stored_rows_file) : "";
  for (const std::string_view file : own.packing) {
    text += between_markers(file);
  }
  return text;
}

std::string pattern_check_text() { return std::string(between_markers(pattern_check_file)); }

std::string model_file_text() {
  std::string text;
  for (const std::string_view file : {packed_bytes_file, description_file, model_format_file}) {
    text += between_markers(file);
  }
  return text;
}

std::string layer_format_text(const PackedFormat& format) {
  return std::visit(
      [](auto known) {
        std::string text = "constexpr uint64_t layer_numbers[] = {\n";
        known.visit([&](const char* name, const auto& number, const Rule&) {
          text += fmt::format("    {},  // {}\n", static_cast<std::uint64_t>(number), name);
        });
        return fmt::format("{}}};\nconstexpr {} layer_format = format_of<{}>(layer_numbers);", text,
                           text_of(known).type, text_of(known).type);
      },
      format);
}

std::map<std::string, std::string> element_holes(ScalarType element, Reading reading) {
  const bool is_rounded = reading == Reading::rounded_to_tf32;
  const std::string name = element == ScalarType::f16    ? "Float16Bits"
                           : element == ScalarType::bf16 ? "BFloat16Bits"
                           : is_rounded                  ? "TensorFloat"
                                                         : c_name(element);
  const std::string argument = size_of(element) == 2 ? "uint16_t" : c_name(element);
  const auto elements = [&](const char* given) {
    return name == argument ? given : fmt::format("reinterpret_cast<const {}*>({})", name, given);
  };
  return {{"ELEMENT", name},
          {"ARGUMENT", argument},
          {"A", elements("a")},
          {"VALUES", elements("values")},
          {"PACKED_SOURCE", is_rounded ? "StoredRows<float, Source>{source}" : "source"}};
}

}  // namespace transformer
}  // namespace esc
