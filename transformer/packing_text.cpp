#include "transformer/packing_text.h"

#include <fmt/format.h>

#include <initializer_list>
#include <stdexcept>
#include <string_view>

namespace esc {

// Embedded by CMakeLists.txt: the headers of the same names, whole.
extern const std::string_view packed_bytes_file;
extern const std::string_view packed_format_file;
extern const std::string_view panel_sources_file;
extern const std::string_view packing_file;
extern const std::string_view pattern_check_file;
extern const std::string_view region_format_file;
extern const std::string_view region_packing_file;
extern const std::string_view task_format_file;
extern const std::string_view task_packing_file;

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

std::string joined(std::initializer_list<std::string_view> files) {
  std::string text;
  for (const std::string_view file : files) {
    text += between_markers(file);
  }
  return text;
}

const char* name_of(ScalarType element) { return element == ScalarType::f64 ? "f64" : "f32"; }

}  // namespace

std::string list_packing_text() {
  return joined({packed_bytes_file, packed_format_file, panel_sources_file, packing_file, pattern_check_file});
}

std::string region_packing_text() {
  return joined({packed_bytes_file, region_format_file, panel_sources_file, region_packing_file, pattern_check_file});
}

std::string task_packing_text() {
  return joined({packed_bytes_file, task_format_file, panel_sources_file, task_packing_file, pattern_check_file});
}

std::string layer_format_text(const PackedFormat& format) {
  return fmt::format(R"(constexpr PackedShape layer_shape = {{
    {},  // rows
    {},  // columns
    {},  // rows of a panel
    {},  // longest list
    ScalarType::{},  // values
}};
constexpr PackedCounts layer_counts = {{
    {},  // lists
    {},  // columns in all lists
    {},  // non-zeros
}};
constexpr PackedFormat layer_format = describe(layer_shape, layer_counts);)",
                     format.shape.rows, format.shape.columns, format.shape.height, format.shape.max_list_columns,
                     name_of(format.shape.element), format.counts.lists, format.counts.columns, format.counts.nonzeros);
}

std::string layer_format_text(const RegionFormat& format) {
  const RegionShape& shape = format.shape;
  const RegionCounts& counts = format.counts;
  std::string classes;
  for (std::uint32_t number = 0; number < counts.class_count; ++number) {
    classes += fmt::format("        {{{}, {}}},\n", counts.classes[number].quads, counts.classes[number].panels);
  }
  return fmt::format(R"(constexpr RegionShape layer_shape = {{
    {},  // rows
    {},  // columns
    {},  // rows of a panel
    {},  // panels of a warp
    {},  // panels of a block
    ScalarType::{},  // values
}};
constexpr RegionCounts layer_counts = {{
    {},  // non-zeros
    {},  // columns of all panels
    {},  // whether panels have every column
    {},  // classes: quads of a panel, panels
    {{
{}    }},
}};
constexpr RegionFormat layer_format = describe(layer_shape, layer_counts);)",
                     shape.rows, shape.columns, shape.height, shape.warp_panels, shape.block_panels, name_of(shape.element), counts.nonzeros,
                     counts.columns, counts.every_column, counts.class_count, classes);
}

std::string layer_format_text(const TaskFormat& format) {
  const TaskShape& shape = format.shape;
  const TaskCounts& counts = format.counts;
  return fmt::format(R"(constexpr TaskShape layer_shape = {{
    {},  // rows
    {},  // columns
    {},  // longest task
    {},  // longest light task
    {},  // heavy tasks of a block
    {},  // light tasks of a block
    ScalarType::{},  // values
}};
constexpr TaskCounts layer_counts = {{
    {},  // non-zeros
    {},  // tasks
    {},  // heavy tasks
    {},  // split rows
}};
constexpr TaskFormat layer_format = describe(layer_shape, layer_counts);)",
                     shape.rows, shape.columns, shape.longest, shape.light, shape.block_heavy, shape.block_light,
                     name_of(shape.element), counts.nonzeros, counts.tasks, counts.heavy, counts.split_rows);
}

}  // namespace transformer
}  // namespace esc
