// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/device_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "generator/emit/bitmap_text.h"
#include "generator/emit/c_constant.h"
#include "generator/emit/fragment_text.h"
#include "generator/emit/gather_text.h"
#include "generator/emit/half_text.h"
#include "generator/emit/k_tile_places.h"
#include "generator/emit/layout_text.h"
#include "generator/emit/packed_matrix_holes.h"
#include "generator/emit/print_kernel.h"
#include "generator/emit/region_text.h"
#include "generator/emit/role_code.h"
#include "generator/emit/runtime_parameters.h"
#include "generator/emit/text_template.h"
#include "generator/ir/instruction.h"
#include "generator/ir/performed_instructions.h"
#include "generator/ir/print.h"
#include "generator/ir/rewrite.h"
#include "generator/ir/roles.h"
#include "generator/support/identifier.h"

namespace esc {

extern const std::string_view sync_consumer_group_text;  ///< embedded from templates/instructions
extern const std::string_view meet_roles_text;
extern const std::string_view meet_multiplying_text;

namespace {

/// How lists are read: where each section of the packed matrix starts.
PackedAccess access_of(const LoopNest& nest, const transformer::ListFormat& format) {
  PackedAccess access;
  access.offset_type = format.counts.nonzeros < (std::uint64_t{1} << 31) ? "int" : "long long";
  for (const transformer::Section& section : format.sections) {
    const std::string type = transformer::c_name(section.type);
    const std::string place = fmt::format("{}{}_at", nest.packed.is_shape_generic ? "packed." : "", section.name);
    if (!nest.packed.is_shape_generic) {
      access.constants.push_back(c_constant("size_t", place, section.offset));
    }
    access.sections.push_back(
        {section.name, type, fmt::format("reinterpret_cast<const {}*>(packed + {})", type, place)});
  }
  return access;
}

PackedAccess access_of(const LoopNest& nest, const transformer::RegionFormat& format) {
  return {.constants = region_constants(nest, format), .sections = {}};
}

PackedAccess access_of(const LoopNest& nest, const transformer::FragmentFormat& format) {
  return {.constants = fragment_constants(nest, format), .sections = {}};
}

PackedAccess access_of(const LoopNest& nest, const transformer::GatherFormat& format) {
  return {.constants = gather_constants(nest, format), .sections = {}};
}

PackedAccess access_of(const LoopNest& nest, const transformer::BitmapFormat& format) {
  return {.constants = packed_tile_constants(nest, format), .sections = {}};
}

PackedAccess access_of(const LoopNest& nest, const transformer::Sparse24Format& format) {
  return {.constants = packed_tile_constants(nest, format), .sections = {}};
}

/// How tasks are read: after the header they are first.
PackedAccess access_of(const LoopNest& nest, const transformer::TaskFormat& format) {
  const auto offset = [](const char* name, std::uint64_t bytes, const char* why) {
    return c_constant("size_t", name, bytes, why);
  };
  const bool is_shape_generic = nest.packed.is_shape_generic;
  PackedAccess access{.constants = {offset("packed_header_bytes", transformer::header_bytes,
                                           "the tasks begin after it, heavy ones first")},
                      .sections = {}};
  if (!nest.before.empty()) {
    access.sections.push_back({"SplitRows", "unsigned int",
                               fmt::format("reinterpret_cast<const unsigned int*>(packed + {}split_rows_at)",
                                           is_shape_generic ? "packed." : "")});
    if (!is_shape_generic) {
      access.constants.push_back(offset("split_rows_at", format.split_rows_at, "the rows that are split"));
    }
  }
  if (!is_shape_generic) {
    access.constants.push_back(offset("pairs_at", format.pairs_at, "the non-zeros in the order of the tasks"));
  }
  access.constants.push_back(
      c_constant("unsigned int", "split_bit", fmt::format("{:#x}u", transformer::split_bit), "of a split row"));
  return access;
}

bool is_number(const Expression& value) { return value.affine() != nullptr && value.affine()->is_constant(); }

bool names(const std::string& text, const std::string& name) {
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const std::size_t behind = at + name.size();
    if ((at == 0 || !is_of_identifier(text[at - 1])) && (behind == text.size() || !is_of_identifier(text[behind]))) {
      return true;
    }
  }
  return false;
}

/// The schedule's own constants, then those that follow from them; of all only what `rest` of the text names, or the
/// launcher, which asks whether vectors can be moved.
std::string constants_text(const Layer& layer, std::string rest) {
  std::vector<NamedConstant> constants = layer.lowered.constants;
  for (const LoopNest& before : layer.lowered.before) {
    constants.insert(constants.end(), before.constants.begin(), before.constants.end());
  }
  std::string own;
  std::string following;
  for (auto constant = constants.rbegin(); constant != constants.rend(); ++constant) {
    if (names(rest, constant->name) ||
        (constant->name == "vector_width" && moves_vectors(layer.lowered, layer.sizes))) {
      const std::string line = c_constant("int", constant->name, print(constant->value), constant->why);
      std::string& part = is_number(constant->value) ? own : following;
      part = line + part;
      rest += line;
    }
  }
  own += c_constant("unsigned int", "tuned_columns", layer.sizes.at("N"),
                    layer.sizes.at("N") == layer.bcol ? "N that the kernel was made for"
                                                      : "columns of the items that it was made for");
  for (const ArrayRole role : {ArrayRole::dense, ArrayRole::output}) {
    if (const ArrayDeclaration& array = layer.lowered.array(role); array.layout) {
      own += c_constant("long long", tuned_leading_dimension(array),
                        least_leading_dimension(array, layer.sizes, fmt::format("{}", layer.bcol)));
    }
  }
  return "// The schedule.\n" + own + (following.empty() ? "" : "\n// Derived constants.\n" + following) + "\n";
}

/// The text with those of the holes filled that it has.
std::string fill_some(std::string_view part, std::map<std::string, std::string> values) {
  std::erase_if(values, [&](const auto& value) { return part.find("@@" + value.first + "@@") == part.npos; });
  return fill(part, values);
}

/// The texts of the barriers and instructions that the nest has, those that others need in front.
std::vector<std::string_view> performed_texts(const LoopNest& nest) {
  std::set<std::string> placed;
  rewrite(nest.body, {.statement = [&](const Statement& statement) -> Block {
            if (const auto* perform = std::get_if<Perform>(&statement.action);
                perform != nullptr && is_placed(nest, *perform)) {
              placed.insert(perform->instruction);
            }
            return {};
          }});
  std::vector<std::string_view> texts;
  if (has_roles(nest)) {
    if (has_producer_warps(nest)) {
      texts.push_back(sync_consumer_group_text);
    } else if (!meets_at_copies(nest)) {
      texts.push_back(meet_roles_text);
    }
    if (meets_behind_iterations(nest)) {
      texts.push_back(meet_multiplying_text);
    }
  } else if (!nest.consumer_group.empty()) {
    texts.push_back(sync_consumer_group_text);
  }
  for (const std::string& name : performed_instructions(nest)) {
    const Instruction& performed = instruction(name);
    std::ranges::copy(placed.contains(name) ? performed.placed_texts : performed.texts, std::back_inserter(texts));
  }
  return texts;
}

/// Each instruction's text once, before those that need it.
std::string instructions_text(const Layer& layer) {
  std::set<std::string_view> written;
  std::string text;
  std::map<std::string, std::string> values = element_holes(layer.lowered);
  if (const auto* regions = std::get_if<transformer::RegionFormat>(&layer.format)) {
    values.merge(region_holes(layer.lowered, *regions));
  }
  if (const auto* fragments = std::get_if<transformer::FragmentFormat>(&layer.format)) {
    values.merge(fragment_holes(layer.lowered, *fragments));
    values.emplace("PLACES", k_tile_places_text(layer.lowered));
  }
  if (layer.lowered.packed.has_packed_tiles()) {
    values.merge(bitmap_holes(layer.lowered));
  }
  values.merge(dense_holes(layer.lowered));
  values.emplace("BARRIER_OF_CONSUMERS",
                 has_producer_warps(layer.lowered) ? "iteration_k_tiles + 1" : "2 * roles * iteration_k_tiles + 1");
  values.merge(packed_matrix_holes(layer.lowered));
  const auto write = [&](const LoopNest& nest) {
    for (const std::string_view part : performed_texts(nest)) {
      if (written.insert(part).second) {
        text += fill_some(part, values) + "\n";
      }
    }
  };
  write(layer.lowered);
  for (const std::vector<LoopNest>* const others :
       {&layer.lowered.before, &layer.lowered.unpacking, &layer.lowered.repacking}) {
    for (const LoopNest& other : *others) {
      write(other);
    }
  }
  return text;
}

const char* const variants_comment =
    "// When `tuned`, N and both leading dimensions are the constant tuned_columns, which lets the compiler drop "
    "bounds and\n"
    "// fold addresses. ";
const char* const vectors_comment =
    "When `vectors`, they and the places of B and C allow a lane to move its columns at once.\n// ";
const char* const bounds_comment =
    "The 1 in the launch bounds lets the compiler take all the registers that it needs.\n";

}  // namespace

std::string kernel_name(const Layer& layer) { return layer.name + "_kernel"; }
std::string zeroing_name(const Layer& layer) { return layer.name + "_zero_rows"; }
std::string unpacking_name(const Layer& layer) { return layer.name + "_unpack_kernel"; }
std::string repacking_name(const Layer& layer) { return layer.name + "_values_kernel"; }

std::string device_text(const Layer& layer) {
  const LoopNest& nest = layer.lowered;
  const PackedAccess packed = std::visit([&](const auto& format) { return access_of(nest, format); }, layer.format);
  std::string rest = "// The matrix, and the layout of its packed form.\n";
  for (const std::string& line : packed.constants) {
    rest += line;
  }
  rest += "\n" + (is_shape_generic(layer) ? packed_matrix_text(runtime_parameters(layer)) : "") +
          layout_functions(nest, layer.sizes) + instructions_text(layer);
  const int alignment = shared_alignment(nest);
  for (const LoopNest& before : nest.before) {
    const KernelText zeroing = print_kernel(before, zeroing_name(layer), packed, alignment);
    rest += "// Sets the rows of C that several tasks add to to zero first.\n" + zeroing.kernel + "\n";
  }
  const KernelText main = print_kernel(nest, kernel_name(layer), packed, alignment);
  rest += main.functions + variants_comment + (nest.vectors ? vectors_comment : "") +
          (nest.packed.kind == PackedForm::Kind::regions ? "\n" : bounds_comment) + main.kernel;
  for (const LoopNest& unpacking : nest.unpacking) {
    rest += "\n// Writes A from its packed form, zeros too.\n" +
            print_kernel(unpacking, unpacking_name(layer), packed, alignment).kernel;
  }
  for (const LoopNest& repacking : nest.repacking) {
    rest += "\n// Writes the values of A into its packed form.\n" +
            print_kernel(repacking, repacking_name(layer), packed, alignment).kernel;
  }
  return "namespace {\n\n" + constants_text(layer, rest) + rest + "\n}  // namespace\n";
}

}  // namespace esc
