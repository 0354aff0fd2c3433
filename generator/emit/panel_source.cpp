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

std::string reading_text(const PanelSchedule& schedule) {
  return fill(schedule.stage ? panel_read_staged_template : panel_read_direct_template,
              {{"WAIT", wait_call(schedule.pdl)}});
}

/// Staged regions stand in front of the sums.
std::string shared_sums_text(const PanelSchedule& schedule) {
  return schedule.stage
             ? "float* const shared_sums = reinterpret_cast<float*>(shared_memory + block_warps * region_bytes);"
             : "extern __shared__ __align__(128) unsigned char shared_memory[];\n"
               "float* const shared_sums = reinterpret_cast<float*>(shared_memory);";
}

std::string storing_text(const PanelSchedule& schedule) {
  return schedule.warps == 1 ? fill(panel_store_warp_template, {})
                             : fill(panel_store_block_template, {{"SHARED_SUMS", shared_sums_text(schedule)}});
}

}  // namespace

std::uint64_t panel_shared_bytes(const PanelSchedule& schedule, const RegionFormat& format) {
  const std::uint64_t staged =
      schedule.stage ? static_cast<std::uint64_t>(schedule.block_warps()) * format.region_bytes : 0;
  return staged + static_cast<std::uint64_t>(schedule.sum_bytes());
}

std::string panel_device_source(const Layer& layer) {
  const PanelSchedule& schedule = schedule_of(layer);
  const RegionFormat& format = format_of(layer);
  const bool narrow = format.column == transformer::ScalarType::u16;
  return fill(panel_device_template, {{"NAME", layer.name},
                                      {"BCOL", number(layer.bcol)},
                                      {"HEIGHT", number(schedule.ufi)},
                                      {"TILE", number(schedule.columns)},
                                      {"VECTOR", number(schedule.vector)},
                                      {"GROUPS", number(schedule.groups)},
                                      {"WARPS", number(schedule.warps)},
                                      {"PANELS", number(schedule.panels)},
                                      {"QUADS", number(schedule.ufk / static_cast<int>(transformer::quad_steps))},
                                      {"COLUMN_BYTES", number(format.column_bytes)},
                                      {"COLUMN_VECTOR", narrow ? "ushort4" : "uint4"},
                                      {"PARTS", fill(lane_parts_template, {})},
                                      {"ADD_GROUPS", fill(lane_sums_template, {})},
                                      {"DEPENDENCY", dependency_functions(schedule.pdl)},
                                      {"ALLOW", allow_successor_call(schedule.pdl)},
                                      {"READ_REGION", reading_text(schedule)},
                                      {"STORE", storing_text(schedule)}});
}

std::string panel_kernel_source(const Layer& layer) {
  const PanelSchedule& schedule = schedule_of(layer);
  const RegionFormat& format = format_of(layer);
  return fill(panel_kernel_template,
              kernel_holes(layer, {{"HEIGHT_SENTENCE", height_sentence(format.shape.height)},
               {"INCLUDES", schedule.stage ? "#include <cuda_pipeline_primitives.h>\n" : ""},
               {"DEVICE", panel_device_source(layer)},
               {"BLOCKS", number(format.shape.blocks())},
               {"REGION_BYTES", number(format.region_bytes)},
               {"SHARED_BYTES", number(panel_shared_bytes(schedule, format))},
               {"LAUNCH_ATTRIBUTES", launch_attributes(schedule.pdl)}}));
}

}  // namespace esc
