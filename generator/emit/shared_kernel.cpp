// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/shared_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "generator/emit/device_text.h"
#include "generator/emit/half_text.h"
#include "generator/emit/launch_parameters.h"
#include "generator/emit/operand_text.h"
#include "generator/emit/sources.h"
#include "generator/emit/unpack_text.h"
#include "generator/matrix/fingerprint.h"
#include "generator/support/error.h"
#include "generator/support/replace_all.h"

namespace esc {

SharedKernel shared_kernel(const Layer& layer, const std::string& bundle) {
  ESC_CHECK(has_kernel(layer), "a layer of a model has non-zeros");
  Layer told = shape_generic_layer(layer);
  told.name = "kernel";
  told.source_file.clear();
  constexpr std::size_t digits = 8;
  const std::string digest = sha256_of_text(kernel_source(told)).substr(0, digits);
  told.name = fmt::format("{}_{}_{}x{}_{}", bundle, family_of(layer.choice), layer.statistics.rows,
                          layer.statistics.columns, digest);
  return {told.name, kernel_source(told), parameter_values(told)};
}

std::string as_layer_text(std::string text, const Layer& layer, const SharedKernel& kernel) {
  const char* const element = c_name(layer.lowered.element());
  Layer told = layer;
  told.name = kernel.name;
  text = replace_all(std::move(text), kernel_name(told), kernel_name(layer));
  text = replace_all(std::move(text), zeroing_name(told), zeroing_name(layer));
  text = replace_all(std::move(text), unpacking_name(told), unpacking_name(layer));
  text = replace_all(std::move(text), repacking_name(told), repacking_name(layer));
  const std::string numbers = fmt::format("  const uint64_t numbers[] = {{{}{}}};\n", fmt::join(kernel.numbers, ", "),
                                          kernel.numbers.empty() ? "0" : "");
  return text +
         fmt::format(
             "\nextern \"C\" cudaError_t {0}_prepare(void) {{ return {1}_prepare(); }}\n\n"
             "extern \"C\" cudaError_t {0}_spmm(const void* packed, const {2}* b, int64_t ldb, {2}* c, int64_t "
             "ldc{4}, int32_t n, cudaStream_t "
             "stream) {{\n"
             "{3}  return {1}_spmm(packed, numbers, b, ldb, c, ldc{5}, n, stream);\n}}\n",
             layer.name, kernel.name, element, numbers, operand_parameters(layer.lowered),
             operand_names(layer.lowered)) +
         shape_generic_unpack_functions(layer, kernel.name, numbers);
}

}  // namespace esc
