// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/told_numbers.h"

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

ToldNumber place(std::string name, std::uint64_t value, std::string why = "") {
  return {.type = "size_t", .name = std::move(name), .values = {value}, .why = std::move(why)};
}

std::vector<ToldNumber> of_kernel(const ListFormat& format, const Layer&) {
  std::vector<ToldNumber> numbers;
  for (const transformer::Section& section : format.sections) {
    numbers.push_back(place(section.name + std::string("_at"), section.offset));
  }
  return numbers;
}

/// Classes that no set belongs to fill the lists up, so that layers with some fewer classes share the kernel as well.
std::vector<ToldNumber> of_kernel(const RegionFormat& format, const Layer&) {
  std::vector<RegionText::Class> classes = RegionText::classes_of(format);
  classes.resize(std::bit_ceil(classes.size()), {std::numeric_limits<std::uint32_t>::max(), 0, 0});
  std::vector<ToldNumber> numbers{place("values_at", format.values_at, "of all quads")};
  if (format.has_numbers()) {
    numbers.push_back(place("numbers_at", format.numbers_at, "which panel has a seat"));
  }
  ToldNumber sets{.type = "unsigned int", .name = "first_sets", .values = {}, .is_list = true, .why = "of each class"};
  ToldNumber quads{
      .type = "unsigned int", .name = "quads", .values = {}, .is_list = true, .why = "of each panel of a class"};
  ToldNumber origins{.type = "unsigned int",
                     .name = "origins",
                     .values = {},
                     .is_list = true,
                     .why = "where the quads of a class begin"};
  for (const RegionText::Class& one : classes) {
    sets.values.push_back(one.first_set);
    quads.values.push_back(one.quads);
    origins.values.push_back(one.origin);
  }
  numbers.insert(numbers.end(), {sets, quads, origins});
  return numbers;
}

std::vector<ToldNumber> of_kernel(const FragmentFormat& format, const Layer&) {
  if (format.regular()) {
    return {};
  }
  return {place("windows_at", format.windows_at, "which window a round has"),
          place("units_at", format.units_at, "where the first unit begins")};
}

std::vector<ToldNumber> of_kernel(const GatherFormat&, const Layer&) { return {}; }

std::vector<ToldNumber> of_kernel(const BitmapFormat&, const Layer&) { return {}; }

std::vector<ToldNumber> of_kernel(const TaskFormat& format, const Layer& layer) {
  std::vector<ToldNumber> numbers{place("pairs_at", format.pairs_at, "the non-zeros in the order of the tasks")};
  if (!layer.lowered.before.empty()) {
    numbers.push_back(place("split_rows_at", format.split_rows_at, "the rows that are split"));
  }
  return numbers;
}

}  // namespace

bool is_told(const Layer& layer) { return layer.lowered.packed.is_told; }

std::vector<ToldNumber> told_numbers(const Layer& layer) {
  return is_told(layer) ? std::visit([&](const auto& format) { return of_kernel(format, layer); }, layer.format)
                        : std::vector<ToldNumber>();
}

std::string packed_matrix_text(const std::vector<ToldNumber>& numbers) {
  std::string members;
  for (const ToldNumber& number : numbers) {
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

Layer told_layer(Layer layer) {
  layer.lowered.packed.is_told = true;
  for (std::vector<LoopNest>* const others :
       {&layer.lowered.before, &layer.lowered.unpacking, &layer.lowered.repacking}) {
    for (LoopNest& other : *others) {
      other.packed.is_told = true;
    }
  }
  return layer;
}

}  // namespace esc
