// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/runtime_parameters.h"

#include <fmt/format.h>

#include <bit>
#include <limits>

#include "generator/emit/region_text.h"

namespace esc {
namespace {

using transformer::BitmapFormat;
using transformer::FragmentFormat;
using transformer::GatherFormat;
using transformer::ListFormat;
using transformer::RegionFormat;
using transformer::TaskFormat;

RuntimeParameter place(std::string name, std::uint64_t value, std::string why = "") {
  return {.type = "size_t", .name = std::move(name), .values = {value}, .why = std::move(why)};
}

std::vector<RuntimeParameter> of_kernel(const ListFormat& format, const Layer&) {
  std::vector<RuntimeParameter> numbers;
  for (const transformer::Section& section : format.sections) {
    numbers.push_back(place(section.name + std::string("_at"), section.offset));
  }
  return numbers;
}

/// Classes that no set belongs to fill the lists up, so that layers with some fewer classes share the kernel as well.
std::vector<RuntimeParameter> of_kernel(const RegionFormat& format, const Layer&) {
  std::vector<RegionText::Class> classes = RegionText::classes_of(format);
  classes.resize(std::bit_ceil(classes.size()), {std::numeric_limits<std::uint32_t>::max(), 0, 0});
  std::vector<RuntimeParameter> numbers{place("values_at", format.values_at, "values of all packets")};
  if (format.has_numbers()) {
    numbers.push_back(place("numbers_at", format.numbers_at, "which row tile is in a tile slot"));
  }
  RuntimeParameter sets{
      .type = "unsigned int", .name = "first_sets", .values = {}, .is_list = true, .why = "of each class"};
  RuntimeParameter packets{
      .type = "unsigned int", .name = "packets", .values = {}, .is_list = true, .why = "of each row tile of a class"};
  RuntimeParameter origins{.type = "unsigned int",
                           .name = "origins",
                           .values = {},
                           .is_list = true,
                           .why = "where the packets of a class begin"};
  for (const RegionText::Class& one : classes) {
    sets.values.push_back(one.first_set);
    packets.values.push_back(one.packets);
    origins.values.push_back(one.origin);
  }
  numbers.insert(numbers.end(), {sets, packets, origins});
  return numbers;
}

std::vector<RuntimeParameter> of_kernel(const FragmentFormat& format, const Layer&) {
  if (format.regular()) {
    return {};
  }
  return {place("k_tiles_at", format.k_tiles_at, "which K tile a round has"),
          place("packed_tiles_at", format.packed_tiles_at, "where the first packed tile begins")};
}

std::vector<RuntimeParameter> of_kernel(const GatherFormat&, const Layer&) { return {}; }

std::vector<RuntimeParameter> of_kernel(const BitmapFormat&, const Layer&) { return {}; }

std::vector<RuntimeParameter> of_kernel(const transformer::Sparse24Format&, const Layer&) { return {}; }

std::vector<RuntimeParameter> of_kernel(const TaskFormat& format, const Layer& layer) {
  std::vector<RuntimeParameter> numbers{place("pairs_at", format.pairs_at, "the non-zeros in the order of the tasks")};
  if (!layer.lowered.before.empty()) {
    numbers.push_back(place("split_rows_at", format.split_rows_at, "the rows that are split"));
  }
  return numbers;
}

}  // namespace

bool is_shape_generic(const Layer& layer) { return layer.lowered.packed.is_shape_generic; }

std::vector<RuntimeParameter> runtime_parameters(const Layer& layer) {
  return is_shape_generic(layer)
             ? std::visit([&](const auto& format) { return of_kernel(format, layer); }, layer.format)
             : std::vector<RuntimeParameter>();
}

std::string packed_matrix_text(const std::vector<RuntimeParameter>& numbers) {
  std::string members;
  for (const RuntimeParameter& number : numbers) {
    members += fmt::format("{} {}{};{}\n", number.type, number.name,
                           number.is_list ? fmt::format("[{}]", number.values.size()) : "",
                           number.why.empty() ? "" : "  // " + number.why);
  }
  return "// The packed matrix of a layer, and what of it is another one in each layer that shares the kernel.\n"
         "struct PackedMatrix {\nconst unsigned char* bytes;\n" +
         members +
         "\n__device__ __forceinline__ const unsigned char* operator+(size_t distance) const { return bytes + "
         "distance; }\n};\n\n";
}

Layer shape_generic_layer(Layer layer) {
  layer.lowered.packed.is_shape_generic = true;
  for (std::vector<LoopNest>* const others :
       {&layer.lowered.before, &layer.lowered.unpacking, &layer.lowered.repacking}) {
    for (LoopNest& other : *others) {
      other.packed.is_shape_generic = true;
    }
  }
  return layer;
}

}  // namespace esc
