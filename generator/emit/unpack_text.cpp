// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/unpack_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "generator/emit/block_memory.h"
#include "generator/emit/device_text.h"
#include "generator/emit/half_text.h"
#include "generator/emit/print_kernel.h"
#include "generator/emit/templates.h"
#include "generator/emit/text_template.h"
#include "generator/emit/told_numbers.h"

namespace esc {
namespace {

const char* const declaration = R"(
/* Writes A, zeros too, from its packed form. packed: as above; a: {0} x {1} in device memory, row-major, row i at
 * a + i * lda, lda >= {1}; what lies between two rows is left. Launches and returns as {2}_spmm does. */
cudaError_t {2}_unpack(const void* packed, {3}* a, int64_t lda, cudaStream_t stream);
)";

}  // namespace

std::string unpack_function(const Layer& layer, const std::map<std::string, std::string>& launcher) {
  if (!can_unpack(layer)) {
    return "";
  }
  const char* const element = c_name(layer.lowered.element());
  return fill(
             unpack_template,
             {{"NAME", layer.name},
              {"PARAMETERS", is_told(layer) ? "const uint64_t* numbers, void* given_a" : fmt::format("{}* a", element)},
              {"ELEMENTS", is_told(layer) ? fmt::format("{0}* const a = static_cast<{0}*>(given_a);\n", element) : ""},
              {"COLUMNS", fmt::format("{}", layer.statistics.columns)},
              {"PACKED_BYTES", launcher.at("PACKED_BYTES")},
              {"LAUNCH_BYTES", launcher.at("LAUNCH_BYTES")},
              {"KERNEL", unpacking_name(layer)},
              {"SIZES", fmt::format("{}", fmt::join(kernel_sizes(layer.lowered), ", "))},
              {"STATUS", needs_preparing(layer) ? fmt::format("status_of_launch(status, {})", unpacking_name(layer))
                                                : "status"}}) +
         "\n";
}

std::string unpack_declaration(const Layer& layer) {
  return can_unpack(layer) ? fmt::format(fmt::runtime(declaration), layer.statistics.rows, layer.statistics.columns,
                                         layer.name, declared_name(layer.lowered.element()))
                           : "";
}

}  // namespace esc
