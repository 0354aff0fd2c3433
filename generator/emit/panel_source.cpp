#include "generator/emit/panel_source.h"

#include <fmt/format.h>

#include "generator/emit/dependent_launch.h"
#include "generator/emit/kernel_holes.h"
#include "generator/emit/templates.h"
#include "generator/emit/text_template.h"

namespace esc {
namespace {

using transformer::RegionFormat;

const PanelSchedule& schedule_of(const Layer& layer) { return std::get<PanelSchedule>(layer.choice.schedule); }
const RegionFormat& format_of(const Layer& layer) { return std::get<RegionFormat>(layer.format); }

/// Quads that a lane group has in flight.
int quads_at_once(const PanelSchedule& schedule) { return schedule.ufk / static_cast<int>(transformer::quad_columns); }

/// Most quads of a panel that a warp copies to shared memory: whole rounds, an even number, which keeps what stands
/// behind them aligned.
std::uint64_t staged_quads(const PanelSchedule& schedule, const RegionFormat& format) {
  const auto of_round = static_cast<std::uint64_t>(quads_at_once(schedule) * schedule.groups);
  const std::uint64_t rounds =
      transformer::round_up(format.counts.classes[0].quads, of_round * static_cast<std::uint64_t>(schedule.warps)) /
      (of_round * static_cast<std::uint64_t>(schedule.warps));
  return transformer::round_up(rounds * of_round, 2);
}

/// Bytes of a quad that is copied.
std::uint64_t quad_bytes(const RegionFormat& format) {
  const std::uint64_t columns = format.counts.every_column ? 0 : size_of(format.column);
  return transformer::quad_columns * (columns + format.shape.height * size_of(format.shape.element));
}

/// The function that says of a set what its class is. The sets that the last block lacks have no quads.
std::string class_of_text(const RegionFormat& format) {
  std::string text;
  const auto add = [&](std::uint64_t set, std::uint64_t quads, std::uint64_t origin) {
    const std::string own = fmt::format("{{{}, {}}}", quads, static_cast<std::uint32_t>(origin));
    text += set == 0 ? fmt::format("  PanelClass own = {};\n", own)
                     : fmt::format("  if (set >= {}) {{\n    own = {};\n  }}\n", set, own);
  };
  for (std::uint32_t index = 0; index < format.counts.class_count; ++index) {
    const std::uint64_t quads = format.counts.classes[index].quads;
    add(format.first_set[index], quads, format.first_quad[index] - format.first_place(index) * quads);
  }
  if (format.sets() != format.blocks() * format.shape.block_sets()) {
    add(format.sets(), 0, 0);
  }
  const bool asks = text.find("set") != text.npos;
  return fmt::format("__device__ __forceinline__ PanelClass class_of(unsigned int{}) {{\n{}  return own;\n}}",
                     asks ? " set" : "", text);
}

std::string panel_at_text(const RegionFormat& format) {
  if (!format.has_numbers()) {
    return "__device__ __forceinline__ unsigned int panel_at(const unsigned char*, unsigned int place) { return place; }";
  }
  return fmt::format(R"(__device__ __forceinline__ unsigned int panel_at(const unsigned char* packed, unsigned int place) {{
  return reinterpret_cast<const {}*>(packed + {})[place];
}})",
                     transformer::c_name(format.number), format.numbers_at);
}

std::string load_columns_text(const RegionFormat& format) {
  if (!format.counts.every_column) {
    return R"(  static_cast<void>(number);
  const ColumnQuad four_columns = *columns;
  result.columns[0] = four_columns.x;
  result.columns[1] = four_columns.y;
  result.columns[2] = four_columns.z;
  result.columns[3] = four_columns.w;)";
  }
  return fmt::format(R"(  // A panel has every column of the matrix; its last quad repeats the last one.
  static_cast<void>(columns);
  constexpr unsigned int last_column = {};
#pragma unroll
  for (int step = 0; step < 4; ++step) {{
    const unsigned int column = 4 * number + step;
    result.columns[step] = column < last_column ? column : last_column;
  }})",
                     format.shape.columns - 1);
}

std::string numbers_text(const PanelSchedule& schedule) {
  return fill(schedule.warps == 1 ? panel_numbers_warp_template : panel_numbers_block_template, {});
}

std::string reading_text(const PanelSchedule& schedule, const RegionFormat& format) {
  if (!schedule.stage) {
    return fill(panel_read_direct_template, {{"NUMBERS", numbers_text(schedule)}, {"WAIT", wait_call(schedule.pdl)}});
  }
  return fill(panel_read_staged_template,
              {{"STAGED_QUADS", number(staged_quads(schedule, format))},
               {"COPY_COLUMNS", format.counts.every_column ? "" : fill(panel_copy_columns_template, {})},
               {"NUMBERS", numbers_text(schedule)},
               {"WAIT", wait_call(schedule.pdl)}});
}

std::uint64_t staged_bytes(const PanelSchedule& schedule, const RegionFormat& format) {
  const auto copies = static_cast<std::uint64_t>(schedule.block_warps() * schedule.warp_panels());
  return schedule.stage ? copies * staged_quads(schedule, format) * quad_bytes(format) : 0;
}

/// What is staged stands in front of the sums.
std::string shared_sums_text(const PanelSchedule& schedule, const RegionFormat& format) {
  return schedule.stage ? fmt::format("float* const shared_sums = reinterpret_cast<float*>(shared_memory + {});",
                                      staged_bytes(schedule, format))
                        : "extern __shared__ __align__(128) unsigned char shared_memory[];\n"
                          "float* const shared_sums = reinterpret_cast<float*>(shared_memory);";
}

std::string storing_text(const PanelSchedule& schedule, const RegionFormat& format) {
  return schedule.warps == 1
             ? fill(panel_store_warp_template, {})
             : fill(panel_store_block_template, {{"SHARED_SUMS", shared_sums_text(schedule, format)}});
}

}  // namespace

std::uint64_t panel_shared_bytes(const PanelSchedule& schedule, const RegionFormat& format) {
  return staged_bytes(schedule, format) + static_cast<std::uint64_t>(schedule.sum_bytes());
}

std::string panel_device_source(const Layer& layer) {
  const PanelSchedule& schedule = schedule_of(layer);
  const RegionFormat& format = format_of(layer);
  const bool narrow = format.column == transformer::ScalarType::u16;
  return fill(panel_device_template, {{"NAME", layer.name},
                                      {"BCOL", number(layer.bcol)},
                                      {"ROWS", number(format.shape.rows)},
                                      {"HEIGHT", number(schedule.ufi)},
                                      {"TILE", number(schedule.columns)},
                                      {"VECTOR", number(schedule.vector)},
                                      {"GROUPS", number(schedule.groups)},
                                      {"WARPS", number(schedule.warps)},
                                      {"PANELS", number(schedule.panels)},
                                      {"QUADS", number(quads_at_once(schedule))},
                                      {"BLOCKS", number(format.blocks())},
                                      {"VALUES_AT", number(format.values_at)},
                                      {"COLUMN_VECTOR", narrow ? "ushort4" : "uint4"},
                                      {"CLASS_OF", class_of_text(format)},
                                      {"PANEL_AT", panel_at_text(format)},
                                      {"LOAD_COLUMNS", load_columns_text(format)},
                                      {"PARTS", fill(lane_parts_template, {})},
                                      {"ADD_GROUPS", fill(lane_sums_template, {})},
                                      {"DEPENDENCY", dependency_functions(schedule.pdl)},
                                      {"ALLOW", allow_successor_call(schedule.pdl)},
                                      {"READ_REGION", reading_text(schedule, format)},
                                      {"STORE", storing_text(schedule, format)}});
}

std::string panel_kernel_source(const Layer& layer) {
  const PanelSchedule& schedule = schedule_of(layer);
  const RegionFormat& format = format_of(layer);
  return fill(panel_kernel_template,
              kernel_holes(layer, {{"HEIGHT_SENTENCE", height_sentence(format.shape.height)},
               {"INCLUDES", schedule.stage ? "#include <cuda_pipeline_primitives.h>\n" : ""},
               {"DEVICE", panel_device_source(layer)},
               {"SHARED_BYTES", number(panel_shared_bytes(schedule, format))},
               {"LAUNCH_ATTRIBUTES", launch_attributes(schedule.pdl)}}));
}

}  // namespace esc
