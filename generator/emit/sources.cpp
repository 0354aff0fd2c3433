#include "generator/emit/sources.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "generator/emit/atomic_source.h"
#include "generator/emit/kernel_holes.h"
#include "generator/emit/panel_source.h"
#include "generator/emit/rows_source.h"
#include "generator/emit/templates.h"
#include "generator/emit/text_template.h"
#include "transformer/packing_text.h"

namespace esc {
namespace {

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

// What a caller must know beside the interface that all families share.

const char* const overlap_note =
    "The launch may overlap with the kernel in front of it in the stream\n"
    " * (programmatic dependent launch, compute capability 9.0 and later): that kernel may write b and read c, but not\n"
    " * write packed.";

std::string notes(const AtomicSchedule&, const Layer&) { return ""; }

std::string notes(const PanelSchedule& schedule, const Layer&) {
  return std::string(
             "\n *\n * B must be finite: the kernel multiplies by explicit zeros, so that an infinity or a NaN in a row of B makes\n"
             " * NaNs in rows of C whose panel reads it.") +
         (schedule.pdl ? std::string(" ") + overlap_note : "");
}

std::string notes(const RowsSchedule& schedule, const Layer& layer) {
  std::string text =
      "\n *\n * B must be finite: where a row of A reads an infinity in B, C may have a NaN instead, because the kernel\n"
      " * multiplies by zeros too.";
  if (std::get<transformer::TaskFormat>(layer.format).counts.split_rows > 0) {
    text += fmt::format(
        " Rows of A with more than {} non-zeros are added up in an\n"
        " * order that differs from one product to the next, and so do the last bits of their sums.",
        schedule.task);
  }
  return text + (schedule.pdl ? std::string("\n * ") + overlap_note : "");
}

// The texts that the families have each of their own.

std::string kernel_of(const AtomicSchedule&, const Layer& layer) { return atomic_kernel_source(layer); }
std::string kernel_of(const PanelSchedule&, const Layer& layer) { return panel_kernel_source(layer); }
std::string kernel_of(const RowsSchedule&, const Layer& layer) { return rows_kernel_source(layer); }

std::string device_of(const AtomicSchedule&, const Layer& layer) { return kernel_source(layer); }
std::string device_of(const PanelSchedule&, const Layer& layer) { return panel_device_source(layer); }
std::string device_of(const RowsSchedule&, const Layer& layer) { return rows_device_source(layer); }

std::string packing_text(const transformer::PackedFormat&) { return transformer::list_packing_text(); }
std::string packing_text(const transformer::RegionFormat&) { return transformer::region_packing_text(); }
std::string packing_text(const transformer::TaskFormat&) { return transformer::task_packing_text(); }

const char* header_type(const transformer::PackedFormat&) { return "PackedHeader"; }
const char* header_type(const transformer::RegionFormat&) { return "RegionHeader"; }
const char* header_type(const transformer::TaskFormat&) { return "TaskHeader"; }

}  // namespace

std::string kernel_source(const Layer& layer) {
  if (layer.statistics.nonzeros == 0) {
    return zero_layer_source(layer);
  }
  return std::visit([&](const auto& schedule) { return kernel_of(schedule, layer); }, layer.choice.schedule);
}

std::string device_source(const Layer& layer) {
  return std::visit([&](const auto& schedule) { return device_of(schedule, layer); }, layer.choice.schedule);
}

std::string transformer_source(const Layer& layer) {
  const auto of_format = [&](const auto& format) {
    return fill(transformer_template, {{"PROVENANCE", provenance(layer, "// ")},
                                       {"NAME", layer.name},
                                       {"ROWS", number(layer.statistics.rows)},
                                       {"COLUMNS", number(layer.statistics.columns)},
                                       {"LAYER_FORMAT", transformer::layer_format_text(format)},
                                       {"HEADER_TYPE", header_type(format)},
                                       {"PACKED_BYTES", number(format.bytes)},
                                       {"DIGESTS", digest_table(layer)},
                                       {"PACKING_TEXT", packing_text(format)}});
  };
  return std::visit(of_format, layer.format);
}

std::string header_source(const Layer& layer) {
  return fill(header_template, {{"PROVENANCE", provenance(layer, " * ")},
                                {"NAME", layer.name},
                                {"ROWS", number(layer.statistics.rows)},
                                {"COLUMNS", number(layer.statistics.columns)},
                                {"BCOL", number(layer.bcol)},
                                {"NOTES", std::visit([&](const auto& schedule) { return notes(schedule, layer); },
                                                     layer.choice.schedule)}});
}

std::string cmake_source(const Layer& layer) {
  return fill(bundle_cmake_template,
              {{"PROVENANCE", provenance(layer, "# ")},
               {"NAME", layer.name},
               {"ARCHITECTURES", fmt::format("{}", fmt::join(layer.architectures, ";"))}});
}

}  // namespace esc
