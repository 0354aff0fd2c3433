// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/sources.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "generator/emit/bitmap_text.h"
#include "generator/emit/block_memory.h"
#include "generator/emit/built_architectures.h"
#include "generator/emit/device_text.h"
#include "generator/emit/fragment_text.h"
#include "generator/emit/half_text.h"
#include "generator/emit/launcher_text.h"
#include "generator/emit/layout_text.h"
#include "generator/emit/operand_text.h"
#include "generator/emit/pattern_text.h"
#include "generator/emit/print_kernel.h"
#include "generator/emit/region_text.h"
#include "generator/emit/runtime_parameters.h"
#include "generator/emit/templates.h"
#include "generator/emit/text_template.h"
#include "generator/emit/unpack_text.h"
#include "generator/ir/performed_instructions.h"
#include "generator/lower/canonicalize.h"
#include "transformer/packing_text.h"

namespace esc {
namespace {

/// A number as it is in C.
std::string number(auto value) { return fmt::format("{}", value); }

/// The element type in the words of a comment.
const char* type_of(const Layer& layer) {
  switch (layer.lowered.element()) {
    case ScalarType::f64:
      return "float64";
    case ScalarType::f16:
      return "float16";
    case ScalarType::bf16:
      return "bfloat16";
    default:
      return "float32";
  }
}

/// A text of the bundle: its own holes, beside those that most texts have; `comment` begins a line of its provenance.
std::string source(std::string_view text, const Layer& layer, const char* comment,
                   std::map<std::string, std::string> holes) {
  holes.merge(std::map<std::string, std::string>{{"PROVENANCE", provenance(layer, comment)},
                                                 {"NAME", layer.name},
                                                 {"ROWS", number(layer.statistics.rows)},
                                                 {"COLUMNS", number(layer.statistics.columns)},
                                                 {"ELEMENT", c_name(layer.lowered.element())}});
  return fill(text, holes);
}

/// How it works, as comment lines: what the passes say, one after the other.
std::string description_text(const LoopNest& nest) {
  constexpr std::size_t longest_line = 116;
  std::string description = "How it works.";
  for (const std::string& sentence : nest.description) {
    description += " " + sentence;
  }
  std::string text = "//";
  std::size_t length = 2;
  for (std::size_t at = 0; at < description.size();) {
    const std::size_t end = std::min(description.find(' ', at), description.size());
    const std::string word = description.substr(at, end - at);
    if (length + 1 + word.size() > longest_line) {
      text += "\n//";
      length = 2;
    }
    text += " " + word;
    length += 1 + word.size();
    at = end + 1;
  }
  return text;
}

// What a caller must know beside the interface that all kernels share.

const char* const finite_note =
    "\n *\n * B must be finite: the kernel multiplies by explicit zeros, so that an infinity or a NaN in a row of B "
    "may make\n"
    " * NaNs in rows of C that do not ask for it.";

const char* const not_prepared_note = ",\n * cudaErrorNotReady where the kernel was not prepared on the current device";

const char* const rounded_note =
    "\n * An element of B counts with 11 significant bits (TF32): it is rounded to the nearest number of that many\n"
    " * where it is multiplied. Sums are float32's.";

const char* const own_features_note =
    "\n * Compile the kernel for sm_90a, as its CMakeLists.txt does: for sm_90, without the features that such devices "
    "alone\n"
    " * have, it takes nearly twice the time.";

const char* const overlap_note =
    "\n * The launch may overlap with the kernel before it in the stream (programmatic dependent launch, compute\n"
    " * capability 9.0 and later): that kernel may write all that is read here but packed, and read c.";

/// What is to be said after "C = A x B" where it is not all.
const char* product_note(const Layer& layer) { return layer.input.epilogue ? ", with an epilogue," : ""; }

/// Whether B and C lie as the plain product has them.
bool is_plain(const LoopNest& nest) {
  return !nest.array(ArrayRole::dense).layout && !nest.array(ArrayRole::output).layout;
}

/// The array of this role as the caller has it: "X[n][512]".
std::string form(const Layer& layer, ArrayRole role) {
  return form_of(layer.lowered.array(role), layer.sizes, layer.input.array(role).name);
}

/// What n counts: columns of C, or items of several.
std::string counted(const Layer& layer) {
  const std::int64_t columns = item_columns(layer.lowered);
  return columns == 1 ? "n columns" : fmt::format("n items of {} columns", columns);
}

/// What B and C are, after "//" in the kernel's file.
std::string kernel_forms(const Layer& layer) {
  const std::string made_for =
      fmt::format("Made for {0} = {1}, right for every {0}.", is_plain(layer.lowered) ? "N" : "n", layer.bcol);
  if (is_plain(layer.lowered)) {
    return fmt::format("B is {0} x N and C is {1} x N, row-major {2}. {3}", layer.statistics.columns,
                       layer.statistics.rows, type_of(layer), made_for);
  }
  return fmt::format("B is what the loop nest reads of {}, and C is {}, row-major\n// {}, {}. {}",
                     form(layer, ArrayRole::dense), form(layer, ArrayRole::output), type_of(layer), counted(layer),
                     made_for);
}

/// The same in the header's words.
std::string header_forms(const Layer& layer) {
  return is_plain(layer.lowered)
             ? fmt::format("B is {} x n, C is {} x n, both row-major", layer.statistics.columns, layer.statistics.rows)
             : fmt::format("B is what the loop nest reads of\n * {}, and C is {}, row-major: {}",
                           form(layer, ArrayRole::dense), form(layer, ArrayRole::output), counted(layer));
}

/// Where B and C are, for a caller.
std::string places(const Layer& layer) {
  if (is_plain(layer.lowered)) {
    return fmt::format(
        "b: {} x n, row k at b + k * ldb; c: {} x n, row i at c + i * ldc, overwritten; n >= 1; ldb and\n * ldc >= n.",
        layer.statistics.columns, layer.statistics.rows);
  }
  const auto place = [&](ArrayRole role, const char* argument) {
    return fmt::format("{0}: {1}, an index of its first dimension is ld{0} elements from the next, ld{0} >= {2}",
                       argument, form(layer, role),
                       least_leading_dimension(layer.lowered.array(role), layer.sizes, "n"));
  };
  return fmt::format("{};\n * {}, overwritten;\n * n >= 1.", place(ArrayRole::dense, "b"),
                     place(ArrayRole::output, "c"));
}

std::string notes(const Layer& layer) {
  const LoopNest& nest = layer.lowered;
  std::string text = nest.explicit_zeros ? finite_note : "";
  text += rounds_factors(nest) ? rounded_note : "";
  if (const auto split = layer.sizes.find("split_rows"); split != layer.sizes.end() && split->second > 0) {
    text += fmt::format(
        "\n * Rows of A with more than {} non-zeros are added up in an order that differs from one product to the "
        "next, and\n"
        " * so do the last bits of their sums.",
        nest.packed.longest);
  }
  if (layer.input.epilogue) {
    text += epilogue_notes(canonicalize(layer.input));
  }
  text += asks_for_own_features(nest) ? own_features_note : "";
  return text + (nest.overlaps ? overlap_note : "");
}

/// What the kernel is of, after "//".
std::string kernel_subject(const Layer& layer) {
  const MatrixStatistics& a = layer.statistics;
  return is_shape_generic(layer)
             ? fmt::format(
                   "C = A x B{} for layers of {} x {} that share this kernel, which is told what differs "
                   "between them.\n//",
                   product_note(layer), a.rows, a.columns)
             : fmt::format(
                   "C = A x B{} for the layer {}. A is {} x {} with {} non-zeros ({:.1f} % zeros), known "
                   "when this\n// file was made;",
                   product_note(layer), layer.name, a.rows, a.columns, a.nonzeros, 100 * a.sparsity);
}

std::string kernel_file(const Layer& layer) {
  std::map<std::string, std::string> holes = launcher_holes(layer);
  const bool stages = stages_packets(layer.lowered) || stages_k_tiles(layer.lowered);
  holes.merge(std::map<std::string, std::string>{
      {"PROVENANCE", provenance(layer, "// ")},
      {"NAME", layer.name},
      {"SUBJECT", kernel_subject(layer)},
      {"FORMS", kernel_forms(layer)},
      {"DESCRIPTION", description_text(layer.lowered)},
      {"INCLUDES", include_of(layer.lowered.element()) +
                       (copies_boxes(layer.lowered) ? "#include <cudaTypedefs.h>\n" : "") +
                       (stages ? "#include <cuda_pipeline_primitives.h>\n" : "")},
      {"DEVICE", device_text(layer)}});
  return fill(kernel_template, holes);
}

transformer::Reading reading_of(const Layer& layer) {
  return layer.lowered.element() == ScalarType::tf32 ? transformer::Reading::rounded_to_tf32
                                                     : transformer::Reading::as_they_are;
}

/// How the caller and the packer have elements on the host.
std::map<std::string, std::string> host_element_holes(const Layer& layer) {
  return transformer::element_holes(std::visit([](const auto& format) { return format.shape.element; }, layer.format),
                                    reading_of(layer));
}

/// Of a kernel that takes any pattern the shape of the matrices that it takes, in C++, with the words that it has room
/// for in a packed tile of a bitmap.
std::string kernel_shape_of(const Layer& layer) {
  return !takes_any_pattern(layer) ? ""
         : layer.lowered.packed.kind == PackedForm::Kind::bitmap
             ? fmt::format("with_room(layer_format.shape, {})", words_in_room(layer.sizes.at("packed_tile_room")))
             : "layer_format.shape";
}

/// What is to be said of the elements that a caller packs.
std::string packed_elements_note(const Layer& layer) {
  const ScalarType element = layer.lowered.element();
  return is_half(element)              ? fmt::format(" An element is the bits of\n * a {}.", type_of(layer))
         : element == ScalarType::tf32 ? " Elements are rounded to\n * TF32: to 11 significant bits, where two are as "
                                         "near to the one farther from zero."
                                       : "";
}

}  // namespace

std::string kernel_source(const Layer& layer) {
  if (has_kernel(layer)) {
    return kernel_file(layer);
  }
  const ArrayDeclaration& output = layer.lowered.array(ArrayRole::output);
  return source(zero_layer_template, layer, "// ",
                {{"INCLUDES", include_of(layer.lowered.element())},
                 {"LEAST_LDB", least_leading_dimension(layer.lowered.array(ArrayRole::dense), layer.sizes, "n")},
                 {"LEAST_LDC", least_leading_dimension(output, layer.sizes, "n")},
                 {"C_ROWS", outermost_extent(output, layer.sizes, "n")}});
}

std::string transformer_source(const Layer& layer) {
  const TakenPatterns patterns{layer.digests, kernel_shape_of(layer)};
  const std::string check = takes_any_pattern(layer) ? "" : transformer::pattern_check_text();
  std::map<std::string, std::string> holes = host_element_holes(layer);
  holes.merge(std::map<std::string, std::string>{
      {"LAYER_FORMAT", transformer::layer_format_text(layer.format)},
      {"NAME", layer.name},
      {"PACKED_BYTES", number(packed_bytes(layer))},
      {"PACKING_TEXT", transformer::packing_text(layer.format, reading_of(layer)) + check}});
  holes.merge(pattern_holes(patterns, holes));
  holes.erase("PACKED_SOURCE");
  return source(transformer_template, layer, "// ", std::move(holes));
}

std::string header_source(const Layer& layer) {
  const ScalarType element = layer.lowered.element();
  const std::string argument = host_element_holes(layer).at("ARGUMENT");
  std::map<std::string, std::string> holes = header_pattern_holes(takes_any_pattern(layer), layer.name, argument);
  holes.merge(std::map<std::string, std::string>{{"TYPE", type_of(layer)},
                                                 {"BCOL", number(layer.bcol)},
                                                 {"FORMS", header_forms(layer)},
                                                 {"PLACES", places(layer)},
                                                 {"EPILOGUE", product_note(layer)},
                                                 {"OPERANDS", declared_operands(layer.lowered)},
                                                 {"ELEMENT", declared_name(element)},
                                                 {"HOST_ELEMENT", argument},
                                                 {"DECLARATION", declaration_of(element)},
                                                 {"BITS", packed_elements_note(layer)},
                                                 {"OPERAND_NAMES", operand_names(layer.lowered)},
                                                 {"NOT_PREPARED", needs_preparing(layer) ? not_prepared_note : ""},
                                                 {"NOTES", notes(layer)},
                                                 {"DEVICE_FUNCTIONS", can_unpack(layer) ? "four" : "two"},
                                                 {"UNPACK", unpack_declarations(layer)}});
  return source(header_template, layer, " * ", std::move(holes));
}

std::string cmake_source(const Layer& layer) {
  return fill(bundle_cmake_template,
              {{"PROVENANCE", provenance(layer, "# ")},
               {"NAME", layer.name},
               {"ARCHITECTURES", built_architectures(layer.architectures, asks_for_own_features(layer.lowered))}});
}

}  // namespace esc
