// SPDX-License-Identifier: Apache-2.0
#include <tbb/parallel_for.h>

#include <cstring>
#include <vector>

#include "transformer/checked_shape.h"
#include "transformer/fragment_packing.h"
#include "transformer/pack.h"
#include "transformer/view_sources.h"

namespace esc::transformer {
namespace {

/// What was found in a window of a block: its rounds, of which those behind the first stand here.
struct PackedWindow {
  std::uint64_t nonzeros = 0;
  std::vector<std::vector<unsigned char>> further;
};

/// Writes the first round of a window of a block as write_round does, with the slots that were searched for the matrix
/// once.
template <typename Source>
void write_first_round(const Source& source, const FragmentFormat& format, FragmentSearches& searches, BlockWindow& at,
                       unsigned char* units) {
  const FragmentShape& shape = format.shape;
  at.complete = true;
  for (std::uint32_t i = 0; i < shape.block_panels; ++i) {
    const auto panel = static_cast<std::int64_t>(at.block * shape.block_panels + i);
    unsigned char* const unit = units + i * format.unit_bytes();
    WindowElements elements;
    if (panel >= shape.panels()) {
      write_unit(format, elements, panel, at.window, 0, at.left[i], unit);
      continue;
    }
    read_window(source, shape, panel, at.window, elements);
    const UnitSlots& slots = searches.find(elements.rows, shape.unit_steps(), panel, at.window);
    at.left[i] = slots.left;
    std::memset(unit, 0, static_cast<std::size_t>(format.unit_bytes()));
    write_values(format, slots, elements, unit);
    write_columns(format, slots, columns_in(shape, at.window), unit);
    write_extras(format, elements, at.left[i], unit);
    at.nonzeros += count_nonzeros(elements.rows);
    at.complete = at.complete && count_nonzeros(at.left[i]) == 0;
  }
  at.rounds = 1;
}

/// Packs a window of a block, whose first round begins at `units`. Dense steps ask for no search.
template <typename Source>
PackedWindow pack_window(const Source& source, const FragmentFormat& format, FragmentSearches& searches,
                         std::uint64_t number, unsigned char* units) {
  BlockWindow at{number / format.windows(), number % format.windows()};
  PackedWindow packed;
  if (format.is_dense()) {
    write_round(source, format, at, units);
  } else {
    write_first_round(source, format, searches, at, units);
  }
  while (!at.complete) {
    packed.further.emplace_back(static_cast<std::size_t>(format.round_units() * format.unit_bytes()));
    write_round(source, format, at, packed.further.back().data());
  }
  packed.nonzeros = at.nonzeros;
  return packed;
}

/// Brings all rounds together.
Packed<FragmentFormat> arrange(const FragmentFormat& format, const Packed<FragmentFormat>& first_rounds,
                               const std::vector<PackedWindow>& windows) {
  Packed<FragmentFormat> packed(format);
  auto* const bytes = reinterpret_cast<unsigned char*>(packed.bytes.data());
  const std::size_t round_bytes = static_cast<std::size_t>(format.round_units() * format.unit_bytes());
  std::uint64_t round = 0;
  const auto add = [&](std::uint64_t window, const void* units) {
    write_window(format, round, window, bytes);
    std::memcpy(bytes + format.unit_at(round, 0), units, round_bytes);
    ++round;
  };
  for (std::uint64_t number = 0; number < windows.size(); ++number) {
    const std::uint64_t window = number % format.windows();
    if (window == 0) {
      write_first_round(format, number / format.windows(), round, bytes);
    }
    add(window, first_rounds.bytes.span().data() + first_rounds.format.unit_at(number, 0));
    for (const std::vector<unsigned char>& units : windows[number].further) {
      add(window, units.data());
    }
  }
  write_first_round(format, format.blocks(), round, bytes);
  return packed;
}

template <typename Source>
Packed<FragmentFormat> pack_source(const Source& source, const FragmentShape& shape, FragmentSearches& searches) {
  const std::uint64_t least_rounds = blocks_of(shape) * windows_of(shape);
  Packed<FragmentFormat> regular(describe(shape, {0, least_rounds}));
  auto* const bytes = reinterpret_cast<unsigned char*>(regular.bytes.data());
  std::vector<PackedWindow> windows(static_cast<std::size_t>(least_rounds));
  tbb::parallel_for(std::uint64_t{0}, least_rounds, [&](std::uint64_t number) {
    windows[number] = pack_window(source, regular.format, searches, number, bytes + regular.format.unit_at(number, 0));
  });
  FragmentCounts counts;
  for (const PackedWindow& window : windows) {
    counts.nonzeros += window.nonzeros;
    counts.rounds += 1 + window.further.size();
  }
  const FragmentFormat format = describe(shape, counts);
  Packed<FragmentFormat> packed = format.regular() ? std::move(regular) : arrange(format, regular, windows);
  packed.format = format;
  seal(format, packed.bytes.data());
  return packed;
}

}  // namespace

Packed<FragmentFormat> pack(const CsrView& matrix, const FragmentCut& cut) {
  FragmentSearches searches(checked_shape(matrix, cut));
  return pack(matrix, cut, searches);
}

Packed<FragmentFormat> pack(const CsrView& matrix, const FragmentCut& cut, FragmentSearches& searches) {
  const FragmentShape shape = checked_shape(matrix, cut);
  check_steps(shape.element, shape.quarter_steps != 0, shape.dense != 0 && shape.listed == 0, shape.placed != 0);
  return with_single_or_half_source(matrix, [&](const auto& source) { return pack_source(source, shape, searches); });
}

FragmentFormat plan(const CsrView& matrix, const FragmentCut& cut) { return pack(matrix, cut).format; }

}  // namespace esc::transformer
