#include "generator/emit/sources.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "generator/emit/atomic_source.h"
#include "generator/emit/panel_source.h"
#include "generator/emit/templates.h"
#include "generator/emit/text_template.h"
#include "transformer/packing_text.h"

namespace esc {
namespace {

std::string number(auto value) { return fmt::format("{}", value); }

std::string zero_layer_source(const Layer& layer) {
  return fill(zero_layer_template, {{"PROVENANCE", provenance(layer, "// ")},
                                    {"NAME", layer.name},
                                    {"ROWS", number(layer.statistics.rows)},
                                    {"COLUMNS", number(layer.statistics.columns)}});
}

std::string digest_table(const Layer& layer) {
  std::string table;
  for (const transformer::PatternDigest& digest : layer.digests) {
    table += fmt::format("    {{{:#018x}u, {}}},\n", digest.hash, digest.nonzeros);
  }
  if (!table.empty()) {
    table.pop_back();
  }
  return table;
}

/// What a caller of a panel kernel must know beside the interface that all families share.
std::string notes_for_callers(const Layer& layer) {
  const auto* panel = std::get_if<PanelSchedule>(&layer.choice.schedule);
  if (panel == nullptr) {
    return "";
  }
  std::string notes =
      "\n *\n * B must be finite: the kernel multiplies by explicit zeros, so that an infinity or a NaN in a row of B makes\n"
      " * NaNs in rows of C whose panel reads it.";
  if (panel->pdl) {
    notes +=
        " The launch may overlap with the kernel in front of it in the stream\n"
        " * (programmatic dependent launch, compute capability 9.0 and later): that kernel may write b and read c, but not\n"
        " * write packed.";
  }
  return notes;
}

}  // namespace

std::string kernel_source(const Layer& layer) {
  if (layer.statistics.nonzeros == 0) {
    return zero_layer_source(layer);
  }
  return std::holds_alternative<PanelSchedule>(layer.choice.schedule) ? panel_kernel_source(layer)
                                                                      : atomic_kernel_source(layer);
}

std::string device_source(const Layer& layer) {
  return std::holds_alternative<PanelSchedule>(layer.choice.schedule) ? panel_device_source(layer)
                                                                      : kernel_source(layer);
}

std::string transformer_source(const Layer& layer) {
  const auto* lists = std::get_if<transformer::PackedFormat>(&layer.format);
  const auto* regions = std::get_if<transformer::RegionFormat>(&layer.format);
  return fill(transformer_template,
              {{"PROVENANCE", provenance(layer, "// ")},
               {"NAME", layer.name},
               {"ROWS", number(layer.statistics.rows)},
               {"COLUMNS", number(layer.statistics.columns)},
               {"LAYER_FORMAT", lists != nullptr ? transformer::layer_format_text(*lists) : transformer::layer_format_text(*regions)},
               {"HEADER_TYPE", lists != nullptr ? "PackedHeader" : "RegionHeader"},
               {"PACKED_BYTES", number(packed_bytes(layer))},
               {"DIGESTS", digest_table(layer)},
               {"PACKING_TEXT",
                lists != nullptr ? transformer::list_packing_text() : transformer::region_packing_text()}});
}

std::string header_source(const Layer& layer) {
  return fill(header_template, {{"PROVENANCE", provenance(layer, " * ")},
                                {"NAME", layer.name},
                                {"ROWS", number(layer.statistics.rows)},
                                {"COLUMNS", number(layer.statistics.columns)},
                                {"BCOL", number(layer.bcol)},
                                {"NOTES", notes_for_callers(layer)}});
}

std::string cmake_source(const Layer& layer) {
  return fill(bundle_cmake_template,
              {{"PROVENANCE", provenance(layer, "# ")},
               {"NAME", layer.name},
               {"ARCHITECTURES", fmt::format("{}", fmt::join(layer.architectures, ";"))}});
}

}  // namespace esc
