#include "generator/emit/kernel_holes.h"

namespace esc {

std::map<std::string, std::string> kernel_holes(const Layer& layer, std::map<std::string, std::string> more) {
  more.merge(std::map<std::string, std::string>{{"PROVENANCE", provenance(layer, "// ")},
                                                {"NAME", layer.name},
                                                {"ROWS", number(layer.statistics.rows)},
                                                {"COLUMNS", number(layer.statistics.columns)},
                                                {"NONZEROS", number(layer.statistics.nonzeros)},
                                                {"SPARSITY", fmt::format("{:.1f}", 100 * layer.statistics.sparsity)},
                                                {"BCOL", number(layer.bcol)}});
  return more;
}

std::string height_sentence(std::uint32_t height) {
  return height == 1 ? "Each row of A is a row panel of its own."
                     : fmt::format("{} consecutive rows of A are a row panel.", height);
}

}  // namespace esc
