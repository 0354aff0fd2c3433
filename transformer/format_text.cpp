#include "transformer/format_text.h"

#include <fmt/format.h>

namespace esc::transformer {

std::string to_text(const PackedFormat& format) {
  const PackedShape& shape = format.shape;
  const PackedCounts& counts = format.counts;
  std::string text = fmt::format(
      "packed format {}: {} x {}, {} non-zeros, panels of {} rows, {} lists of at most {} columns, {} bytes\n",
      format_version, shape.rows, shape.columns, counts.nonzeros, shape.height, counts.lists, shape.max_list_columns,
      format.bytes);
  for (const Section& section : format.sections) {
    text += fmt::format("  {:<8}  {:>12} x {:<18}  at byte {}\n", section.name, section.count, c_name(section.type),
                        section.offset);
  }
  return text;
}

std::ostream& operator<<(std::ostream& stream, const PackedFormat& format) { return stream << to_text(format); }

}  // namespace esc::transformer
