// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/unpack_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <string>

#include "generator/emit/block_memory.h"
#include "generator/emit/device_text.h"
#include "generator/emit/half_text.h"
#include "generator/emit/print_kernel.h"
#include "generator/emit/runtime_parameters.h"
#include "generator/emit/templates.h"
#include "generator/emit/text_template.h"
#include "generator/ir/roles.h"
#include "transformer/description.h"

namespace esc {
namespace {

const char* const unpack_comment = R"(
/* Writes A, zeros too, from its packed form. packed: as above; a: {0} x {1} in device memory, row-major, row i at
 * a + i * lda, lda >= {1}; what lies between two rows is left. Launches and returns as {2}_spmm does. */
)";

const char* const values_comment = R"(
/* Writes the values of A into its packed form, whose pattern stays: elements that are zero there are not looked at, and
 * a zero where it has a non-zero is a value. a and lda: as above; packed: the device copy, which is written. Launches
 * and returns as {2}_spmm does; products that are launched after it have the new values. The packed matrix is then to
 * the byte that of A with these values, but for its header: the checksum there becomes 0, so that {2}_load takes no
 * copy of it. */
)";

/// A function of these two kinds.
struct Function {
  const char* verb;
  const char* comment;
  std::string kernel;
  bool writes_packed;
};

Function unpack(const Layer& layer) { return {"unpack", unpack_comment, unpacking_name(layer), false}; }
Function values(const Layer& layer) { return {"values", values_comment, repacking_name(layer), true}; }

const char* packed_of(const Function& function) {
  return function.writes_packed ? "void* packed" : "const void* packed";
}

/// A as the caller has it.
std::string matrix_of(const Function& function, const char* element) {
  return fmt::format("{}{}*", function.writes_packed ? "const " : "", element);
}

/// The parameters in the order of the C interface: what is written is after what is read.
std::string parameters_of(const Function& function, const char* element) {
  const std::string matrix = matrix_of(function, element) + " a, int64_t lda";
  return function.writes_packed ? matrix + ", " + packed_of(function) : packed_of(function) + (", " + matrix);
}

std::string shape_generic_signature(const Function& function) {
  return fmt::format("{}, const uint64_t* numbers, {} given_a, int64_t lda", packed_of(function),
                     matrix_of(function, "void"));
}

/// A product may read the packed matrix before the kernel before it has ended, but not before a fill has.
const char* const clear_checksum = R"(  if (status != cudaSuccess) {{
    return {};
  }}
  // The file's checksum holds no longer. And products after this overlap with the fill, not with the kernel.
  return cudaMemsetAsync(static_cast<unsigned char*>(packed) + {}, 0, {}, stream);)";

std::string return_text(const Layer& layer, const Function& function) {
  const std::string status =
      needs_preparing(layer) ? fmt::format("status_of_launch(status, {})", function.kernel) : "status";
  using transformer::Header;
  return function.writes_packed ? fmt::format(fmt::runtime(clear_checksum), status, offsetof(Header, payload_checksum),
                                              sizeof(Header::payload_checksum))
                                : fmt::format("  return {};", status);
}

/// After others.
std::string further_arguments(const std::vector<std::string>& names) {
  return names.empty() ? "" : fmt::format(", {}", fmt::join(names, ", "));
}

std::string function_text(const Layer& layer, const Function& function,
                          const std::map<std::string, std::string>& launcher) {
  const char* const element = c_name(layer.lowered.element());
  const std::string matrix = matrix_of(function, element);
  return fill(unpack_template,
              {{"NAME", layer.name},
               {"VERB", function.verb},
               {"PARAMETERS",
                is_shape_generic(layer) ? shape_generic_signature(function) : parameters_of(function, element)},
               {"ELEMENTS",
                is_shape_generic(layer) ? fmt::format("{0} const a = static_cast<{0}>(given_a);\n", matrix) : ""},
               {"COLUMNS", fmt::format("{}", layer.statistics.columns)},
               {"PACKED_BYTES", launcher.at("PACKED_BYTES")},
               {"LAUNCH_BYTES", launcher.at("LAUNCH_BYTES")},
               {"KERNEL", function.kernel},
               {"THREADS",
                has_producer_warps(layer.lowered) ? "threads_of_block - 32 * producer_warps" : "threads_of_block"},
               {"SIZES", further_arguments(kernel_sizes(layer.lowered))},
               {"RETURN", return_text(layer, function)}}) +
         "\n";
}

std::string declaration(const Layer& layer, const Function& function) {
  return fmt::format(fmt::runtime(function.comment), layer.statistics.rows, layer.statistics.columns, layer.name) +
         fmt::format("cudaError_t {}_{}({}, cudaStream_t stream);\n", layer.name, function.verb,
                     parameters_of(function, declared_name(layer.lowered.element())));
}

std::string shape_generic_call(const Layer& layer, const std::string& told, const Function& function,
                               const std::string& numbers) {
  return fmt::format(
      "\nextern \"C\" cudaError_t {0}_{1}({2}, cudaStream_t stream) {{\n"
      "{3}  return {4}_{1}(packed, numbers, a, lda, stream);\n}}\n",
      layer.name, function.verb, parameters_of(function, c_name(layer.lowered.element())), numbers, told);
}

}  // namespace

std::string unpack_functions(const Layer& layer, const std::map<std::string, std::string>& launcher) {
  return can_unpack(layer)
             ? function_text(layer, unpack(layer), launcher) + function_text(layer, values(layer), launcher)
             : "";
}

std::string unpack_declarations(const Layer& layer) {
  return can_unpack(layer) ? declaration(layer, unpack(layer)) + declaration(layer, values(layer)) : "";
}

std::string shape_generic_unpack_functions(const Layer& layer, const std::string& told, const std::string& numbers) {
  return can_unpack(layer) ? shape_generic_call(layer, told, unpack(layer), numbers) +
                                 shape_generic_call(layer, told, values(layer), numbers)
                           : "";
}

}  // namespace esc
