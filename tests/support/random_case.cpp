// SPDX-License-Identifier: Apache-2.0
#include "tests/support/random_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <set>

#include "generator/matrix/drawn_value.h"
#include "tests/support/placed_schedule.h"
#include "tests/support/run_size.h"

namespace esc::tests {
namespace {

/// RapidCheck reads RC_PARAMS when the first property begins. An ordinary run of programs with such cases takes few of
/// them, unless the caller has set it; a whole run takes RapidCheck's own number.
[[maybe_unused]] const bool is_set =
    !full_sweep() &&
    setenv("RC_PARAMS", fmt::format("seed={} max_success={}", seed_of_properties(), in_this_build(6)).c_str(), 0) == 0;

rc::Gen<std::int64_t> awkward_size(std::int64_t most) {
  return rc::gen::map(rc::gen::oneOf(rc::gen::element<std::int64_t>(1, 2, 3, 7, 8, 13, 16, 31),
                                     rc::gen::inRange<std::int64_t>(1, most + 1)),
                      [most](std::int64_t size) { return std::min(size, most); });
}

/// What kernels compute in themselves, what they keep in memory alone, and what the sparse tensor core takes.
enum class Elements { whole, half, streamed };

/// A third of the matrices have the less usual one of two; of those that are streamed each type has as many.
ScalarType element_of(Elements elements, std::uint64_t seed) {
  if (elements == Elements::streamed) {
    constexpr std::array types{ScalarType::f32, ScalarType::tf32};
    return types[seed % types.size()];
  }
  const bool unusual = seed % 3 == 0;
  return elements == Elements::half ? (unusual ? ScalarType::bf16 : ScalarType::f16)
         : unusual                  ? ScalarType::f64
                                    : ScalarType::f32;
}

/// Per mille of non-zeros in each row, then the columns that a hash of (seed, row, column) keeps.
SparseMatrix build(std::int64_t rows, std::int64_t columns, const std::vector<int>& per_mille, std::uint64_t seed,
                   Elements elements) {
  SparseMatrix matrix{rows, columns, {0}, {}, {}, element_of(elements, seed)};
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto density = static_cast<std::uint64_t>(per_mille[static_cast<std::size_t>(row) % per_mille.size()]);
    for (std::int64_t column = 0; column < columns; ++column) {
      if (mix_bits(seed ^ static_cast<std::uint64_t>(row * columns + column)) % 1000 < density) {
        matrix.column_of.push_back(static_cast<std::int32_t>(column));
        matrix.values.push_back(drawn_value(seed, row, column, matrix.element));
      }
    }
    matrix.offsets.push_back(matrix.nonzeros());
  }
  return matrix;
}

rc::Gen<SparseMatrix> awkward_matrix(const rc::Gen<std::int64_t>& rows, const rc::Gen<std::int64_t>& columns,
                                     Elements elements) {
  const auto density = rc::gen::oneOf(rc::gen::element(0, 1000, 50, 300, 500), rc::gen::inRange(0, 1001));
  return rc::gen::map(rc::gen::tuple(rows, columns, rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(density)),
                                     rc::gen::arbitrary<std::uint64_t>()),
                      [elements](const std::tuple<std::int64_t, std::int64_t, std::vector<int>, std::uint64_t>& drawn) {
                        return std::apply(build, std::tuple_cat(drawn, std::tuple(elements)));
                      });
}

rc::Gen<SparseMatrix> wide_matrix(Elements elements) {
  constexpr std::int64_t columns_of_16_bits = 65536;
  const auto between = [](std::int64_t least, std::int64_t most) { return rc::gen::inRange(least, most + 1); };
  return rc::gen::map(
      rc::gen::tuple(between(1, 9), between(columns_of_16_bits + 1, columns_of_16_bits + 5000), between(1, 40),
                     rc::gen::arbitrary<std::uint64_t>()),
      [elements](const std::tuple<std::int64_t, std::int64_t, std::int64_t, std::uint64_t>& drawn) {
        const auto& [rows, columns, most_of_a_row, seed] = drawn;
        SparseMatrix matrix{rows, columns, {0}, {}, {}, element_of(elements, seed)};
        for (std::int64_t row = 0; row < rows; ++row) {
          std::set<std::int64_t> chosen;
          for (std::int64_t entry = 0; entry < most_of_a_row * (row % 3) / 2; ++entry) {
            const std::uint64_t bits = mix_bits(seed ^ static_cast<std::uint64_t>(row * most_of_a_row + entry));
            chosen.insert(columns - 1 -
                          static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(bits % 2 == 0 ? columns : 100)));
          }
          for (const std::int64_t column : chosen) {
            matrix.column_of.push_back(static_cast<std::int32_t>(column));
            matrix.values.push_back(drawn_value(seed, row, column, matrix.element));
          }
          matrix.offsets.push_back(matrix.nonzeros());
        }
        return matrix;
      });
}

}  // namespace

rc::Gen<SparseMatrix> awkward_matrix(std::int64_t most) {
  return awkward_matrix(awkward_size(most), awkward_size(most), Elements::whole);
}

rc::Gen<SparseMatrix> wide_matrix() { return wide_matrix(Elements::whole); }

rc::Gen<SparseMatrix> awkward_half_matrix(std::int64_t most) {
  return awkward_matrix(awkward_size(most), awkward_size(most), Elements::half);
}

rc::Gen<SparseMatrix> wide_half_matrix() { return wide_matrix(Elements::half); }

rc::Gen<SparseMatrix> awkward_streamed_matrix(std::int64_t most) {
  return awkward_matrix(awkward_size(most), awkward_size(most), Elements::streamed);
}

rc::Gen<SparseMatrix> wide_streamed_matrix() { return wide_matrix(Elements::streamed); }

rc::Gen<SparseMatrix> windowed_matrix(std::int64_t most_rows) {
  constexpr std::int64_t k_tile = StreamSchedule::k_tile_columns;
  const auto columns = rc::gen::oneOf(rc::gen::element<std::int64_t>(k_tile - 1, k_tile, k_tile + 1, 2 * k_tile - 1,
                                                                     2 * k_tile, 2 * k_tile + 1, 3 * k_tile - 8),
                                      rc::gen::inRange<std::int64_t>(k_tile, 3 * k_tile), awkward_size(k_tile));
  return awkward_matrix(awkward_size(most_rows), columns, Elements::streamed);
}

rc::Gen<SparseMatrix> bursting_matrix() {
  constexpr std::int64_t height = StreamSchedule::max_rows;
  constexpr std::int64_t k_tile = StreamSchedule::k_tile_columns;
  return rc::gen::map(
      rc::gen::tuple(rc::gen::inRange<std::int64_t>(12, 16), rc::gen::inRange<std::int64_t>(1, k_tile),
                     rc::gen::inRange<std::uint64_t>(5, 60), rc::gen::inRange<std::uint64_t>(700, 1001),
                     rc::gen::arbitrary<std::uint64_t>()),
      [](const std::tuple<std::int64_t, std::int64_t, std::uint64_t, std::uint64_t, std::uint64_t>& drawn) {
        const auto& [row_tiles, further_columns, few, many, seed] = drawn;
        const std::int64_t full_row_tile = static_cast<std::int64_t>(seed % static_cast<std::uint64_t>(row_tiles));
        SparseMatrix matrix{
            row_tiles * height - 3, k_tile + further_columns, {0}, {}, {}, element_of(Elements::streamed, seed)};
        for (std::int64_t row = 0; row < matrix.rows; ++row) {
          for (std::int64_t column = 0; column < matrix.columns; ++column) {
            const bool is_full = row / height == full_row_tile && column < k_tile;
            if (mix_bits(seed ^ static_cast<std::uint64_t>(row * matrix.columns + column)) % 1000 <
                (is_full ? many : few)) {
              matrix.column_of.push_back(static_cast<std::int32_t>(column));
              matrix.values.push_back(drawn_value(seed, row, column, matrix.element));
            }
          }
          matrix.offsets.push_back(matrix.nonzeros());
        }
        return matrix;
      });
}

rc::Gen<AtomicSchedule> legal_schedule(std::int64_t bcol) {
  const int widest = static_cast<int>(std::max<std::int64_t>(1, bcol / 32));
  const auto between = [](int least, int most) { return rc::gen::inRange(least, most + 1); };
  return rc::gen::map(
      rc::gen::tuple(between(1, AtomicSchedule::max_ufi), between(1, AtomicSchedule::max_ufk),
                     between(1, std::min(AtomicSchedule::max_warptile, widest)),
                     between(1, std::min(AtomicSchedule::max_threads / 32, widest)), rc::gen::arbitrary<bool>()),
      [](const std::tuple<int, int, int, int, bool>& drawn) {
        return AtomicSchedule{.ufi = std::get<0>(drawn),
                              .ufk = std::get<1>(drawn),
                              .warptile = std::get<2>(drawn),
                              .threads = 32 * std::get<3>(drawn),
                              .compaction = std::get<4>(drawn)};
      });
}

rc::Gen<PanelSchedule> legal_panel_schedule(std::int64_t bcol) {
  const auto exponent = rc::gen::inRange(0, 8);
  const auto most_legal = rc::gen::map(
      rc::gen::tuple(rc::gen::container<std::array<int, 7>>(exponent), rc::gen::arbitrary<bool>(),
                     rc::gen::arbitrary<bool>()),
      [bcol](const std::tuple<std::array<int, 7>, bool, bool>& drawn) {
        const auto& [exponents, stage, pdl] = drawn;
        // A power of two up to `most`, each as likely as the others.
        const auto power = [&exponents = exponents](std::size_t at, std::int64_t most) {
          return 1 << (exponents[at] % std::bit_width(static_cast<std::uint64_t>(most)));
        };
        const auto widest = std::bit_ceil(static_cast<std::uint64_t>(bcol));
        PanelSchedule schedule{.stage = stage, .pdl = pdl};
        schedule.ufi = power(0, PanelSchedule::max_ufi);
        schedule.columns =
            power(1, std::min<std::int64_t>(PanelSchedule::max_columns, static_cast<std::int64_t>(widest)));
        schedule.vector = power(2, std::min(schedule.columns, bcol % 4 == 0 ? 4 : bcol % 2 == 0 ? 2 : 1));
        schedule.vector = std::max(schedule.vector, schedule.columns / 32);
        if (bcol % schedule.vector != 0) {
          schedule.columns = 32;
          schedule.vector = 1;
        }
        schedule.groups = power(3, schedule.warp_groups());
        schedule.warps = power(4, PanelSchedule::max_warps);
        schedule.row_tiles = schedule.warp_row_tiles() * power(5, PanelSchedule::max_warps / schedule.warps);
        schedule.ufk = 4 * power(6, PanelSchedule::max_ufk / 4);
        return schedule;
      });
  return rc::gen::suchThat(most_legal, [bcol](const PanelSchedule& schedule) {
    try {
      check_legal(schedule, bcol);
      return true;
    } catch (const ScheduleError&) {
      return false;
    }
  });
}

rc::Gen<RowsSchedule> legal_rows_schedule(std::int64_t bcol) {
  const auto drawn_schedule = rc::gen::map(
      rc::gen::tuple(rc::gen::container<std::array<int, 6>>(rc::gen::inRange(0, 64)), rc::gen::arbitrary<bool>()),
      [bcol](const std::tuple<std::array<int, 6>, bool>& drawn) {
        const auto& [exponents, pdl] = drawn;
        // A power of two up to `most`, each as likely as the others.
        const auto power = [&exponents = exponents](std::size_t at, std::int64_t most) {
          return 1 << (exponents[at] % std::bit_width(static_cast<std::uint64_t>(most)));
        };
        RowsSchedule schedule{.pdl = pdl};
        schedule.columns = power(0, widest_tile(bcol));
        schedule.vector = power(1, std::min(schedule.columns, widest_vector(bcol)));
        schedule.columns = std::min(schedule.columns, 32 * schedule.vector);
        schedule.unroll = power(2, RowsSchedule::max_unroll);
        schedule.task = power(3, exponents[3] % 2 == 0 ? 16 : RowsSchedule::max_task);
        schedule.light = power(4, schedule.task);
        schedule.warps = power(5, RowsSchedule::max_warps);
        return schedule;
      });
  return rc::gen::map(drawn_schedule, [bcol](const RowsSchedule& schedule) {
    check_legal(schedule, bcol);
    return schedule;
  });
}

rc::Gen<StreamSchedule> legal_stream_schedule(std::int64_t bcol, const SparseMatrix& matrix) {
  constexpr std::int64_t most_placed_columns = 2000;
  const bool may_be_placed = matrix.columns <= most_placed_columns;
  return rc::gen::map(
      rc::gen::tuple(rc::gen::container<std::array<int, 4>>(rc::gen::inRange(0, 240)), rc::gen::arbitrary<bool>()),
      [bcol, may_be_placed](const std::tuple<std::array<int, 4>, bool>& drawn) {
        const auto& [numbers, pdl] = drawn;
        StreamSchedule schedule{.pdl = pdl};
        const auto widest =
            std::min<std::uint64_t>(std::bit_ceil(static_cast<std::uint64_t>(bcol)), StreamSchedule::max_columns);
        schedule.columns = 8 << (widest < 8 ? 0 : numbers[0] % (std::bit_width(widest) - 3));
        // Most blocks are small: what they do with a packed tile is the same in large ones.
        const int most_warps = numbers[1] % 4 == 0 ? StreamSchedule::max_row_tiles : 6;
        schedule.row_tiles = 1 + numbers[2] % std::min(most_warps, 1 + numbers[1] / 15);
        schedule.warps = 1 + numbers[1] % (most_warps / schedule.row_tiles);
        schedule.stages = 2 + numbers[3] % (StreamSchedule::max_stages - 1);
        schedule.share = schedule.warps % 2 == 0 && numbers[2] % 3 == 0
                             ? (schedule.warps % 4 == 0 && numbers[0] % 2 == 0 ? 4 : 2)
                             : 1;
        schedule.rows = numbers[3] / 32 % 2 == 0 ? StreamSchedule::m16_tile_rows : StreamSchedule::max_rows;
        schedule.copies = numbers[3] / 16 % 2 == 0 ? StreamSchedule::Copies::cp_async
                          : numbers[2] % 4 == 1    ? StreamSchedule::Copies::bulk_a
                                                   : StreamSchedule::Copies::tma;
        schedule.cluster = numbers[1] / 6 % 3 == 0 ? 2 << numbers[0] / 48 % 3 : 1;
        const auto form = numbers[0] / 16 % 8;
        schedule.dense = form == 1       ? StreamSchedule::Dense::listed
                         : form % 4 == 0 ? StreamSchedule::Dense::on
                                         : StreamSchedule::Dense::off;
        if (numbers[0] % 5 == 2 && may_be_placed) {
          schedule = with_placed_values(schedule, numbers[2], bcol > 64);
        }
        check_legal(schedule, bcol);
        return schedule;
      });
}

rc::Gen<std::int64_t> awkward_bcol(std::int64_t most) {
  return rc::gen::map(rc::gen::oneOf(rc::gen::element<std::int64_t>(1, 4, 31, 32, 33, 64, 65, 100, 128, 257),
                                     rc::gen::inRange<std::int64_t>(1, 258)),
                      [most](std::int64_t bcol) { return std::min(bcol, most); });
}

namespace {

rc::Gen<ProductCase> product_case(std::int64_t bcol, const rc::Gen<int>& shift) {
  const auto exact =
      rc::gen::tuple(rc::gen::just(bcol), rc::gen::just<std::int64_t>(0), rc::gen::just<std::int64_t>(0), shift, shift);
  const auto columns = rc::gen::oneOf(rc::gen::just(bcol), rc::gen::inRange<std::int64_t>(1, bcol + 1),
                                      rc::gen::inRange<std::int64_t>(bcol + 1, bcol + 70));
  const auto gap = rc::gen::element<std::int64_t>(0, 1, 3, 8);
  const auto any = rc::gen::tuple(columns, gap, gap, shift, shift);
  return rc::gen::map(rc::gen::oneOf(exact, any),
                      [](const std::tuple<std::int64_t, std::int64_t, std::int64_t, int, int>& drawn) {
                        const auto& [n, gap_of_b, gap_of_c, shift_b, shift_c] = drawn;
                        return ProductCase{static_cast<std::int32_t>(n), n + gap_of_b, n + gap_of_c, shift_b, shift_c};
                      });
}

}  // namespace

rc::Gen<ProductCase> product_case(std::int64_t bcol) { return product_case(bcol, rc::gen::inRange(0, 4)); }

rc::Gen<ProductCase> half_product_case(std::int64_t bcol) {
  return product_case(bcol, rc::gen::element(0, 0, 0, 1, 2, 4, 7));
}

}  // namespace esc::tests
