#include "generator/emit/atomic_source.h"

#include <fmt/format.h>

#include "generator/emit/cuda_printer.h"
#include "generator/emit/kernel_holes.h"
#include "generator/emit/templates.h"
#include "generator/emit/text_template.h"

namespace esc {
namespace {

using transformer::PackedFormat;
using transformer::Section;
using transformer::SectionId;

std::string c_type(const PackedFormat& format, SectionId id) { return transformer::c_name(format.section(id).type); }

/// "panels_at": where a section starts.
std::string offset_name(const Section& section) { return fmt::format("{}_at", section.name); }

std::string section_offsets(const PackedFormat& format) {
  std::string text;
  for (const Section& section : format.sections) {
    text += fmt::format("constexpr size_t {} = {};\n", offset_name(section), section.offset);
  }
  return text;
}

std::string section_pointers(const PackedFormat& format) {
  std::string text;
  for (const Section& section : format.sections) {
    text += fmt::format("const {0}* __restrict__ {1} = reinterpret_cast<const {0}*>(packed + {2});\n",
                        transformer::c_name(section.type), section.name, offset_name(section));
  }
  return text;
}

}  // namespace

std::string atomic_kernel_source(const Layer& layer) {
  const auto& format = std::get<PackedFormat>(layer.format);
  const char* offset_type = format.counts.nonzeros < (std::uint64_t{1} << 31) ? "int" : "long long";
  const CudaText cuda = print_cuda(layer.lowered, offset_type, c_type(format, SectionId::cols));
  const auto& schedule = std::get<AtomicSchedule>(layer.choice.schedule);
  return fill(kernel_template, kernel_holes(layer, {{"HEIGHT_SENTENCE", height_sentence(format.shape.height)},
                                {"LISTS", number(format.counts.lists)},
                                {"THREADS", number(schedule.threads)},
                                {"SECTION_OFFSETS", section_offsets(format)},
                                {"SECTION_POINTERS", section_pointers(format)},
                                {"FUNCTIONS", cuda.functions},
                                {"KERNEL_BODY", cuda.kernel_body}}));
}

}  // namespace esc
