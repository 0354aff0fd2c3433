// SPDX-License-Identifier: Apache-2.0
#include "tests/support/nest_memory.h"

#include <algorithm>
#include <cmath>

#include "generator/emit/fragment_block.h"
#include "generator/matrix/drawn_value.h"
#include "generator/patterns/csr_view.h"
#include "tests/support/reference_tasks.h"
#include "transformer/choose_fragments.h"
#include "transformer/pack.h"
#include "transformer/packed_reader.h"
#include "transformer/unpack.h"

namespace esc::tests {
namespace {

Tensor vector_of(std::uint64_t count, const auto& element_at) {
  Tensor tensor{{static_cast<std::int64_t>(count)}, {}};
  for (std::uint64_t index = 0; index < count; ++index) {
    tensor.elements.push_back(static_cast<double>(element_at(index)));
  }
  return tensor;
}

Tensor dense(const SparseMatrix& matrix) {
  Tensor a{{matrix.rows, matrix.columns}, std::vector<double>(static_cast<std::size_t>(matrix.rows * matrix.columns))};
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    for (std::int64_t entry = matrix.offsets[static_cast<std::size_t>(row)];
         entry < matrix.offsets[static_cast<std::size_t>(row) + 1]; ++entry) {
      const auto at = static_cast<std::size_t>(entry);
      a.elements[static_cast<std::size_t>(row * matrix.columns + matrix.column_of[at])] = matrix.values[at];
    }
  }
  return a;
}

/// The sizes and arrays of the product itself.
Memory product_memory(const SparseMatrix& matrix, std::int64_t columns_of_b, std::uint64_t seed) {
  Memory memory;
  memory.arrays["A"] = dense(matrix);
  Tensor b{{matrix.columns, columns_of_b}, {}};
  for (std::int64_t row = 0; row < matrix.columns; ++row) {
    for (std::int64_t column = 0; column < columns_of_b; ++column) {
      b.elements.push_back(drawn_value(seed, row, column));
    }
  }
  memory.arrays["B"] = std::move(b);
  memory.arrays["C"] = {{matrix.rows, columns_of_b},
                        std::vector<double>(static_cast<std::size_t>(matrix.rows * columns_of_b))};
  memory.sizes = {{"M", matrix.rows}, {"K", matrix.columns}, {"N", columns_of_b}};
  return memory;
}

/// The same with the regions of a packed form, the rounds over which take so many packets.
Memory region_memory(const SparseMatrix& matrix, std::int64_t columns_of_b, const PackedForm& form, std::int64_t round,
                     std::uint64_t seed) {
  Memory memory = product_memory(matrix, columns_of_b, seed);
  const auto packed = transformer::pack(
      csr_view(matrix), transformer::RegionCut{.height = static_cast<std::uint32_t>(form.height),
                                               .warp_row_tiles = static_cast<std::uint32_t>(form.warp_row_tiles),
                                               .block_row_tiles = static_cast<std::uint32_t>(form.block_row_tiles)});
  const transformer::RegionFormat& format = packed.format;
  const transformer::RegionReader reader(packed.bytes.span(), format);
  const std::uint64_t tile_slots = format.block_places();
  const std::uint64_t steps = std::uint64_t{transformer::packet_columns} * format.counts.classes[0].packets;
  const std::uint64_t full_tile_slots = format.first_place(format.counts.class_count);
  const auto at = [&](std::uint64_t tile_slot, std::uint64_t step, double behind, const auto& element) {
    return tile_slot < full_tile_slots && step < reader.steps(tile_slot) ? static_cast<double>(element()) : behind;
  };
  memory.arrays["Numbers"] = vector_of(tile_slots, [&](std::uint64_t tile_slot) { return reader.row_tile(tile_slot); });
  memory.arrays["Packets"] = vector_of(tile_slots, [&](std::uint64_t tile_slot) {
    return tile_slot < full_tile_slots ? reader.steps(tile_slot) / transformer::packet_columns : 0;
  });
  Tensor columns{{static_cast<std::int64_t>(tile_slots), static_cast<std::int64_t>(steps)}, {}};
  Tensor values{{static_cast<std::int64_t>(tile_slots), static_cast<std::int64_t>(steps), form.height}, {}};
  for (std::uint64_t tile_slot = 0; tile_slot < tile_slots; ++tile_slot) {
    for (std::uint64_t step = 0; step < steps; ++step) {
      columns.elements.push_back(
          at(tile_slot, step, -1, [&] { return std::min(reader.column(tile_slot, step), matrix.columns - 1); }));
      for (std::uint32_t row = 0; row < static_cast<std::uint32_t>(form.height); ++row) {
        values.elements.push_back(
            at(tile_slot, step, std::nan(""), [&] { return reader.value(tile_slot, step, row); }));
      }
    }
  }
  memory.arrays["Columns"] = std::move(columns);
  memory.arrays["Values"] = std::move(values);
  memory.sizes["blocks"] = static_cast<std::int64_t>(format.blocks());
  memory.sizes["staged_steps"] =
      (static_cast<std::int64_t>(steps) / transformer::packet_columns + round) * transformer::packet_columns;
  return memory;
}

/// The same with the packed tiles of a matrix of 16-bit floats.
Memory fragment_memory(const SparseMatrix& matrix, std::int64_t columns_of_b, const PackedForm& form,
                       std::uint64_t seed) {
  Memory memory = product_memory(matrix, columns_of_b, seed);
  const transformer::CsrView view = csr_view(matrix);
  const auto packed =
      transformer::pack(view, transformer::choose_fragments(view, fragment_block(form), {.residual = 64}));
  const transformer::FragmentFormat& format = packed.format;
  const transformer::FragmentReader reader(packed.bytes.span(), format);
  const std::int64_t rounds = static_cast<std::int64_t>(format.counts.rounds);
  const std::int64_t slots = std::int64_t{format.shape.steps} * format.step_slots();
  const std::int64_t residuals = format.shape.residuals;
  memory.arrays["FirstRounds"] =
      vector_of(format.blocks() + 1, [&](std::uint64_t block) { return reader.first_round(block); });
  memory.arrays["KTiles"] = vector_of(format.counts.rounds, [&](std::uint64_t round) { return reader.k_tile(round); });
  Tensor columns{{rounds, form.block_row_tiles, slots}, {}};
  Tensor values{{rounds, form.block_row_tiles, slots, form.height},
                std::vector<double>(static_cast<std::size_t>(rounds * form.block_row_tiles * slots * form.height))};
  Tensor residual_ends{{rounds, form.block_row_tiles, transformer::row_sets}, {}};
  Tensor residual_slots{{rounds, form.block_row_tiles, residuals}, {}};
  Tensor residual_rows = residual_slots;
  Tensor residual_values = residual_slots;
  for (std::uint64_t round = 0; round < format.counts.rounds; ++round) {
    for (std::uint32_t number_of_packed_tile = 0; number_of_packed_tile < format.round_packed_tiles();
         ++number_of_packed_tile) {
      const std::uint64_t packed_tile = format.packed_tile_at(round, number_of_packed_tile);
      const std::size_t row_tile =
          static_cast<std::size_t>(round) * static_cast<std::size_t>(form.block_row_tiles) + number_of_packed_tile;
      const auto put = [&](std::size_t slot, std::uint32_t row, double value) {
        values.elements[(row_tile * static_cast<std::size_t>(slots) + slot) * static_cast<std::size_t>(form.height) +
                        row] = value;
      };
      for (std::uint32_t step = 0; step < format.shape.steps; ++step) {
        for (std::uint32_t slot = 0; slot < format.step_slots(); ++slot) {
          // Dense steps have columns after the matrix's last, with zeros.
          const std::uint64_t column = reader.column(packed_tile, step, slot);
          const bool is_there = std::cmp_less(reader.k_tile(round) * format.k_tile_columns() + column, matrix.columns);
          columns.elements.push_back(is_there ? static_cast<double>(column) : 0);
        }
        for (std::uint32_t group = 0; group < transformer::step_groups && !format.is_placed(); ++group) {
          for (std::uint32_t row = 0; row < format.shape.height; ++row) {
            const transformer::SlotValue found = reader.value(packed_tile, step, group, row);
            put(step * format.step_slots() + found.slot, row, found.value);
          }
        }
      }
      for (std::uint32_t number = 0; format.is_placed() && number < reader.placed_values(packed_tile); ++number) {
        const transformer::ResidualValue found = reader.placed_value(packed_tile, number);
        if (found.value != 0) {
          put(found.column, found.row, found.value);
        }
      }
      std::uint32_t number = 0;
      for (std::uint32_t row_set = 0; row_set < transformer::row_sets; ++row_set) {
        const std::uint32_t end = reader.residuals_end(packed_tile, row_set);
        residual_ends.elements.push_back(end);
        for (; number < end; ++number) {
          const transformer::ResidualValue residual = reader.residual(packed_tile, row_set, number);
          residual_slots.elements.push_back(residual.column);
          residual_rows.elements.push_back(residual.row / transformer::row_sets);
          residual_values.elements.push_back(residual.value);
        }
      }
      const std::size_t all = (row_tile + 1) * format.shape.residuals;
      for (Tensor* const tensor : {&residual_slots, &residual_rows, &residual_values}) {
        tensor->elements.resize(all);
      }
    }
  }
  memory.arrays["Slots"] = std::move(columns);
  memory.arrays["Values"] = std::move(values);
  memory.arrays["ResidualEnds"] = std::move(residual_ends);
  memory.arrays["ResidualSlots"] = std::move(residual_slots);
  memory.arrays["ResidualRows"] = std::move(residual_rows);
  memory.arrays["ResidualValues"] = std::move(residual_values);
  memory.sizes["all_rounds"] = rounds;
  memory.sizes["packed_tile_steps"] = format.shape.steps;
  memory.sizes["packed_tile_slots"] = slots;
  memory.sizes["packed_tile_residuals"] = format.shape.residuals;
  return memory;
}

/// The words of a bitmap's packed tiles; NaN where a packed tile has no more of them.
Tensor values_of(const transformer::BitmapReader& reader, const transformer::BitmapFormat& format) {
  constexpr std::int64_t lanes = transformer::packed_tile_lanes;
  const auto row_tiles = static_cast<std::int64_t>(format.row_tiles()),
             tiles = static_cast<std::int64_t>(format.tiles());
  const std::int64_t most_words = format.shape.most_words;
  Tensor values{{row_tiles, tiles, most_words, lanes, 2}, {}};
  for (std::int64_t number = 0; number < row_tiles * tiles; ++number) {
    const transformer::BitmapPackedTile packed_tile =
        reader.packed_tile(static_cast<std::uint64_t>(number / tiles), static_cast<std::uint64_t>(number % tiles));
    for (std::uint32_t place = 0; place < most_words * lanes * 2; ++place) {
      const std::uint32_t row = place / 2 / lanes;
      values.elements.push_back(
          row < packed_tile.words ? reader.half_word(packed_tile, row, place / 2 % lanes, place % 2) : std::nan(""));
    }
  }
  return values;
}

/// Packed tiles of a bitmap as they are packed.
Memory bitmap_memory(const SparseMatrix& matrix, std::int64_t columns_of_b, std::uint64_t seed) {
  Memory memory = product_memory(matrix, columns_of_b, seed);
  const auto packed = transformer::pack(csr_view(matrix), transformer::BitmapCut{});
  const transformer::BitmapFormat& format = packed.format;
  const transformer::BitmapReader reader(packed.bytes.span(), format);
  const auto row_tiles = static_cast<std::int64_t>(format.row_tiles()),
             tiles = static_cast<std::int64_t>(format.tiles());
  constexpr std::int64_t lanes = transformer::packed_tile_lanes, blocks = transformer::packed_tile_blocks;
  Tensor words{{row_tiles, tiles}, {}}, odd_columns{{row_tiles, tiles, lanes}, {}},
      bits{{row_tiles, tiles, blocks, lanes}, {}};
  for (std::int64_t number = 0; number < row_tiles * tiles; ++number) {
    const transformer::BitmapPackedTile packed_tile =
        reader.packed_tile(static_cast<std::uint64_t>(number / tiles), static_cast<std::uint64_t>(number % tiles));
    words.elements.push_back(packed_tile.words);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      odd_columns.elements.push_back(reader.odd_column(packed_tile, lane));
    }
    for (std::uint32_t place = 0; place < blocks * lanes; ++place) {
      bits.elements.push_back(reader.bits(packed_tile, place / lanes, place % lanes));
    }
  }
  // Where packed tiles begin matters for their bytes alone.
  memory.arrays["PackedTileBegins"] =
      vector_of(format.packed_tiles() + 1, [](std::uint64_t packed_tile) { return packed_tile; });
  memory.arrays["PackedTileWords"] = std::move(words);
  memory.arrays["OddColumns"] = std::move(odd_columns);
  memory.arrays["Bits"] = std::move(bits);
  memory.arrays["Values"] = values_of(reader, format);
  memory.sizes["most_words"] = format.shape.most_words;
  memory.sizes["packed_tile_begins"] = static_cast<std::int64_t>(format.packed_tiles()) + 1;
  return memory;
}

/// The array Values of packed tiles of which two of each four elements are stored.
Tensor values_of(const transformer::Sparse24Reader& reader, const transformer::Sparse24Format& format) {
  constexpr std::int64_t lanes = transformer::packed_tile_lanes, blocks = transformer::packed_tile_blocks, groups = 2,
                         registers = 4;
  const auto row_tiles = static_cast<std::int64_t>(format.row_tiles()),
             tiles = static_cast<std::int64_t>(format.tiles());
  Tensor values{{row_tiles, tiles, blocks, groups, lanes, registers, 2}, {}};
  for (std::int64_t number = 0; number < row_tiles * tiles; ++number) {
    for (std::uint32_t place = 0; place < blocks * groups * lanes * registers * 2; ++place) {
      const std::uint32_t of_block = place / 2 / registers / lanes / groups,
                          group = place / 2 / registers / lanes % groups;
      values.elements.push_back(reader.value(static_cast<std::uint64_t>(number), of_block, group,
                                             place / 2 / registers % lanes, place / 2 % registers, place % 2));
    }
  }
  return values;
}

Memory sparse24_memory(const SparseMatrix& matrix, std::int64_t columns_of_b, std::uint64_t seed) {
  Memory memory = product_memory(matrix, columns_of_b, seed);
  const auto packed = transformer::pack(csr_view(matrix), transformer::Sparse24Cut{});
  const transformer::Sparse24Format& format = packed.format;
  const transformer::Sparse24Reader reader(packed.bytes.span(), format);
  const auto row_tiles = static_cast<std::int64_t>(format.row_tiles()),
             tiles = static_cast<std::int64_t>(format.tiles());
  constexpr std::int64_t lanes = transformer::packed_tile_lanes, blocks = transformer::packed_tile_blocks;
  Tensor metadata{{row_tiles, tiles, blocks, lanes}, {}};
  for (std::int64_t number = 0; number < row_tiles * tiles; ++number) {
    for (std::uint32_t place = 0; place < blocks * lanes; ++place) {
      metadata.elements.push_back(reader.metadata(static_cast<std::uint64_t>(number), place / lanes, place % lanes));
    }
  }
  memory.arrays["Metadata"] = std::move(metadata);
  memory.arrays["Values"] = values_of(reader, format);
  memory.sizes["packed_tile_pieces"] = transformer::Sparse24Format::packed_tile_bytes / transformer::bitmap_piece_bytes;
  return memory;
}

/// Lists as they are packed. What lies after the last step of one is zero.
Memory gather_memory(const SparseMatrix& matrix, std::int64_t columns_of_b, const PackedForm& form,
                     std::uint64_t seed) {
  Memory memory = product_memory(matrix, columns_of_b, seed);
  const auto packed = transformer::pack(
      csr_view(matrix), transformer::GatherCut{.height = static_cast<std::uint32_t>(form.height),
                                               .block_row_tiles = static_cast<std::uint32_t>(form.block_row_tiles)});
  const transformer::GatherFormat& format = packed.format;
  const transformer::GatherReader reader(packed.bytes.span(), format);
  const auto blocks = static_cast<std::int64_t>(format.blocks()), k_tiles = static_cast<std::int64_t>(format.k_tiles());
  const std::int64_t most_steps = format.shape.steps;
  Tensor steps{{blocks, k_tiles, form.block_row_tiles}, {}};
  Tensor columns{{blocks, k_tiles, form.block_row_tiles, most_steps, form.height, transformer::step_entries}, {}};
  Tensor values = columns;
  for (std::int64_t number = 0; number < blocks * k_tiles * form.block_row_tiles; ++number) {
    const auto block = static_cast<std::uint64_t>(number / (k_tiles * form.block_row_tiles)),
               k_tile = static_cast<std::uint64_t>(number / form.block_row_tiles % k_tiles);
    const transformer::GatheredPackedTile packed_tile =
        reader.packed_tile(block, k_tile, static_cast<std::uint32_t>(number % form.block_row_tiles));
    steps.elements.push_back(packed_tile.steps);
    for (std::uint32_t step = 0; step < format.shape.steps; ++step) {
      for (std::uint32_t entry = 0; entry < format.shape.height * transformer::step_entries; ++entry) {
        const transformer::GatheredEntry found =
            step < packed_tile.steps ? reader.entry(packed_tile, k_tile, step, entry / transformer::step_entries,
                                                    entry % transformer::step_entries)
                                     : transformer::GatheredEntry{};
        columns.elements.push_back(static_cast<double>(found.column));
        values.elements.push_back(found.value);
      }
    }
  }
  memory.arrays["Rows"] =
      vector_of(format.tile_slots(), [&](std::uint64_t tile_slot) { return reader.row(tile_slot); });
  // Where lists begin matters for their bytes alone.
  memory.arrays["ListBegins"] = vector_of(format.lists() + 1, [](std::uint64_t list) { return list; });
  memory.arrays["ListSteps"] = std::move(steps);
  memory.arrays["ListColumns"] = std::move(columns);
  memory.arrays["ListValues"] = std::move(values);
  memory.sizes["most_steps"] = most_steps;
  memory.sizes["list_begins"] = static_cast<std::int64_t>(format.lists()) + 1;
  memory.sizes["tile_slots"] = static_cast<std::int64_t>(format.tile_slots());
  return memory;
}

}  // namespace

Memory nest_memory(const SparseMatrix& matrix, std::int64_t columns_of_b, int height, std::uint32_t max_list_columns,
                   std::uint64_t seed) {
  Memory memory = product_memory(matrix, columns_of_b, seed);
  const auto packed = transformer::pack(
      csr_view(matrix),
      transformer::ListCut{.height = static_cast<std::uint32_t>(height), .max_list_columns = max_list_columns});
  const transformer::ListReader lists(packed.bytes.span(), packed.format);
  const transformer::ListCounts& counts = packed.format.counts;
  memory.arrays["Panels"] = vector_of(counts.lists, [&](std::uint64_t l) { return lists.row_tile(l); });
  memory.arrays["Patterns"] = vector_of(counts.lists, [&](std::uint64_t l) { return lists.pattern(l); });
  memory.arrays["RPP"] = vector_of(counts.lists + 1, [&](std::uint64_t l) { return lists.rpp(l); });
  memory.arrays["NPP"] = vector_of(counts.lists + 1, [&](std::uint64_t l) { return lists.npp(l); });
  memory.arrays["Cols"] = vector_of(counts.columns, [&](std::uint64_t c) { return lists.column(c); });
  memory.arrays["ANNZ"] = vector_of(counts.nonzeros, [&](std::uint64_t v) { return lists.value(v); });
  memory.sizes["lists"] = static_cast<std::int64_t>(counts.lists);
  return memory;
}

Memory panel_nest_memory(const SparseMatrix& matrix, std::int64_t columns_of_b, const PanelSchedule& schedule,
                         std::uint64_t seed) {
  const PackedForm form{
      .height = schedule.ufi, .warp_row_tiles = schedule.warp_row_tiles(), .block_row_tiles = schedule.row_tiles};
  const std::int64_t round = schedule.warps * schedule.groups * schedule.ufk / transformer::packet_columns;
  return region_memory(matrix, columns_of_b, form, round, seed);
}

Memory rows_nest_memory(const SparseMatrix& matrix, std::int64_t columns_of_b, const RowsSchedule& schedule,
                        std::uint64_t seed) {
  Memory memory = product_memory(matrix, columns_of_b, seed);
  ReferenceTasks tasks = reference_tasks(matrix, schedule);
  memory.sizes["tasks"] = tasks.rows.extents[0];
  memory.sizes["heavy"] = tasks.heavy;
  memory.sizes["nonzeros"] = matrix.nonzeros();
  memory.sizes["split_rows"] = tasks.split_rows.extents[0];
  memory.arrays["SplitRows"] = std::move(tasks.split_rows);
  memory.arrays["Rows"] = std::move(tasks.rows);
  memory.arrays["Splits"] = std::move(tasks.splits);
  memory.arrays["First"] = std::move(tasks.first);
  memory.arrays["Lengths"] = std::move(tasks.lengths);
  memory.arrays["Columns"] = std::move(tasks.columns);
  memory.arrays["Values"] = std::move(tasks.values);
  return memory;
}

Memory memory_for(const LoopNest& last, const SparseMatrix& matrix, std::int64_t columns_of_b, std::uint64_t seed) {
  const PackedForm& form = last.packed;
  switch (form.kind) {
    case PackedForm::Kind::lists: {
      constexpr std::uint32_t longest_list = 5;
      return nest_memory(matrix, columns_of_b, static_cast<int>(form.height), longest_list, seed);
    }
    case PackedForm::Kind::regions: {
      const Environment constants = constants_of(last);
      const auto round = constants.find("round_packets");
      return region_memory(matrix, columns_of_b, form, round == constants.end() ? 0 : round->second, seed);
    }
    case PackedForm::Kind::tasks:
      return rows_nest_memory(matrix, columns_of_b,
                              {.task = static_cast<int>(form.longest), .light = static_cast<int>(form.light)}, seed);
    case PackedForm::Kind::fragments:
      return fragment_memory(matrix, columns_of_b, form, seed);
    case PackedForm::Kind::bitmap:
      return bitmap_memory(matrix, columns_of_b, seed);
    case PackedForm::Kind::sparse24:
      return sparse24_memory(matrix, columns_of_b, seed);
    case PackedForm::Kind::gathered:
      return gather_memory(matrix, columns_of_b, form, seed);
    case PackedForm::Kind::none:
      break;
  }
  return product_memory(matrix, columns_of_b, seed);
}

Tensor packed_tile_values(std::span<const std::byte> packed) {
  const transformer::PackedFormat format = transformer::read_format(packed);
  if (const auto* const sparse24 = std::get_if<transformer::Sparse24Format>(&format)) {
    return values_of(transformer::Sparse24Reader(packed, *sparse24), *sparse24);
  }
  const auto& bitmap = std::get<transformer::BitmapFormat>(format);
  return values_of(transformer::BitmapReader(packed, bitmap), bitmap);
}

SparseMatrix with_two_of_four(const SparseMatrix& matrix) {
  constexpr std::int32_t neighbours = 4;
  SparseMatrix kept{matrix.rows, matrix.columns, {0}, {}, {}, matrix.element};
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    std::int32_t four = -1;
    int found = 0;
    for (auto at = static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row)]);
         at < static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row) + 1]); ++at) {
      found = matrix.column_of[at] / neighbours == four ? found + 1 : 1;
      four = matrix.column_of[at] / neighbours;
      if (found <= 2) {
        kept.column_of.push_back(matrix.column_of[at]);
        kept.values.push_back(matrix.values[at]);
      }
    }
    kept.offsets.push_back(kept.nonzeros());
  }
  return kept;
}

double largest_difference(const Memory& a, const Memory& b) {
  const std::vector<double>& left = a.arrays.at("C").elements;
  const std::vector<double>& right = b.arrays.at("C").elements;
  double largest = 0;
  for (std::size_t index = 0; index < left.size(); ++index) {
    const double difference = std::abs(left[index] - right[index]);
    largest = std::isnan(difference) ? INFINITY : std::max(largest, difference);
  }
  return largest;
}

}  // namespace esc::tests
