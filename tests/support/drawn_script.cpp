// SPDX-License-Identifier: Apache-2.0
#include "tests/support/drawn_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>
#include <variant>

#include "generator/matrix/drawn_value.h"
#include "generator/matrix/round_values.h"
#include "generator/schedule/schedule.h"
#include "tests/support/placed_schedule.h"

namespace esc::tests {
namespace {

bool is_part_of_number(char character) {
  return std::isdigit(static_cast<unsigned char>(character)) != 0 || character == '-';
}

bool is_part_of_name(char character) { return std::isalpha(static_cast<unsigned char>(character)) != 0; }

/// Whether a number can begin after the character: "24" of "sparse24" is none.
bool is_before_number(char character) { return !is_part_of_name(character) && !is_part_of_number(character); }

/// The places [begin, end) of the text that hold a parameter: a number, or the name of a loop or array.
std::vector<std::pair<std::size_t, std::size_t>> parameters(const std::string& text) {
  std::vector<std::pair<std::size_t, std::size_t>> places;
  const auto run = [&](std::size_t begin, bool (*is_part)(char)) {
    std::size_t end = begin;
    while (is_part(text[end])) {
      ++end;
    }
    return end;
  };
  const std::size_t inside = text.find('(') + 1;
  if (const std::size_t end = run(inside, is_part_of_name); end > inside) {
    places.emplace_back(inside, end);
  }
  for (std::size_t at = inside; at < text.size(); ++at) {
    if (is_part_of_number(text[at]) && is_before_number(text[at - 1])) {
      places.emplace_back(at, run(at, is_part_of_number));
      at = places.back().second;
    }
  }
  return places;
}

/// What std::swap does, which would be compiled for all pairs of kinds of directives.
void exchange(Directive& one, Directive& other) {
  Directive kept = one;
  one = other;
  other = kept;
}

}  // namespace

std::string print(const DrawnScript& drawn) {
  return fmt::format("{} on {} x {} with {} non-zeros, bCol {}", esc::print(drawn.directives), drawn.matrix.rows,
                     drawn.matrix.columns, drawn.matrix.nonzeros(), drawn.bcol);
}

DrawnScript ScriptDraw::next() {
  DrawnScript drawn;
  if (chance(90)) {
    drawn.directives = of_a_family();
    for (int times = one_of<int>({0, 0, 1, 1, 1, 1, 2, 3}); times > 0; --times) {
      spoil(drawn.directives);
    }
  } else {
    for (int count = 1 + below(14); count > 0; --count) {
      drawn.directives.push_back(any_directive());
    }
  }
  drawn.matrix = matrix();
  const auto streams = [](const Directive& directive) { return std::holds_alternative<Mainloop>(directive); };
  if (std::ranges::any_of(drawn.directives, streams)) {
    // Fragments have elements of 32 bits: those of 16 are refused.
    if (chance(10)) {
      round_values(drawn.matrix, chance(50) ? ScalarType::f16 : ScalarType::bf16);
    } else if (chance(50)) {
      round_values(drawn.matrix, ScalarType::tf32);
    }
  }
  drawn.bcol = chance(30) ? one_of<std::int64_t>({1, 2, 31, 32, 33, 64}) : 1 + below(70);
  return drawn;
}

std::vector<Directive> ScriptDraw::atomic() {
  std::vector<Directive> script{
      Unroll{"i", 1 + below(8)},   Enumerate{},   MapGrid{"i"}, MapLanes{"j", 32 * (1 + below(4)), 32 * (1 + below(8))},
      Coarsen{"k", 1 + below(16)}, Transform{"A"}};
  if (chance(80)) {
    script.emplace_back(Compact{});
  }
  return script;
}

std::vector<Directive> ScriptDraw::row_tile() {
  const int vector = power_of_two(2);
  const int lane_bits = below(6);
  const int group_bits = below(6 - lane_bits);
  const int warp_row_tiles = 1 << (5 - lane_bits - group_bits);
  const int warps = 1 + below(16);
  std::vector<Directive> script{Unroll{"i", chance(70) ? power_of_two(3) : 1 + below(8)},
                                Enumerate{},
                                MergePatterns{},
                                AssignRowTiles{"i", warp_row_tiles * (1 + below(16 / warps)), warp_row_tiles},
                                TileColumns{"j", vector << lane_bits, vector},
                                SplitColumns{"k", warps, 1 << group_bits},
                                AccumulateSums{},
                                ShuffleSums{}};
  if (warps > 1) {
    script.emplace_back(ShareSums{});
  }
  script.insert(script.end(), {PackRegions{"A"}, Vectorize{"j"}, BatchColumns{"k", 4 * power_of_two(1)}});
  if (chance(80)) {
    script.push_back(chance(50) ? Directive(StageRegions{"A"}) : Directive(Prefetch{"A"}));
  }
  if (chance(50)) {
    script.emplace_back(Overlap{});
  }
  return script;
}

std::vector<Directive> ScriptDraw::rows() {
  const int vector = power_of_two(2);
  const int lane_bits = below(6);
  const int task_bits = below(8);
  std::vector<Directive> script{Unroll{"i", 1},
                                Enumerate{},
                                MergePatterns{},
                                CutRows{"k", 1 << task_bits},
                                PackTasks{"A", power_of_two(task_bits)},
                                AssignTasks{"task", 1 + below(16), 32 >> lane_bits},
                                TileColumns{"j", vector << lane_bits, vector},
                                AccumulateSums{},
                                ShuffleSums{},
                                Vectorize{"j"},
                                BatchColumns{"k", 1 + below(8)}};
  if (chance(80)) {
    script.emplace_back(Prefetch{"A"});
  }
  if (chance(50)) {
    script.emplace_back(Overlap{});
  }
  return script;
}

std::vector<Directive> ScriptDraw::placed_stream() {
  using enum StreamSchedule::Copies;
  const StreamSchedule schedule{.stages = 2 + below(3),
                                .pdl = chance(50),
                                .copies = one_of<StreamSchedule::Copies>({cp_async, bulk_a, tma, tma}),
                                .cluster = chance(30) ? 2 << below(3) : 1};
  return expand(with_placed_values(schedule, below(placed_schedules), chance(30)));
}

std::vector<Directive> ScriptDraw::stream() {
  if (chance(10)) {
    return placed_stream();
  }
  const int row_tiles = 1 + below(4);
  const int share = chance(30) ? 2 : 1;
  std::vector<Directive> script{Mainloop{"i", row_tiles, share * (1 + below(4 / share)), chance(50) ? 32 : 16, share},
                                FragmentColumns{"j", 8 << below(3)}};
  script.push_back(chance(75)   ? Directive(PackFragments{"A"})
                   : chance(50) ? Directive(PackDense{"A"})
                                : Directive(PackListed{"A"}));
  script.emplace_back(PipelineKTiles{"k", 2 + below(3)});
  if (chance(50)) {
    script.push_back(chance(70) ? Directive(CopyInBulk{}) : Directive(CopyPackedTiles{}));
  }
  if (chance(30)) {
    script.emplace_back(ClusterIterations{"k", 2 << below(3)});
  }
  script.emplace_back(PlaceEpilogue{});
  if (chance(50)) {
    script.emplace_back(Overlap{});
  }
  return script;
}

std::vector<Directive> ScriptDraw::of_a_family() {
  const int family = below(12);
  return family < 2 ? atomic() : family < 7 ? row_tile() : family < 10 ? rows() : stream();
}

Directive ScriptDraw::any_directive() {
  const Directive drawn = one_of(of_a_family());
  return chance(50) ? with_another_parameter(drawn) : drawn;
}

Directive ScriptDraw::with_another_parameter(const Directive& directive) {
  std::string text = esc::print(directive);
  const auto places = parameters(text);
  const bool has_fixed_words =
      std::holds_alternative<CopyInBulk>(directive) || std::holds_alternative<CopyPackedTiles>(directive);
  if (places.empty() || has_fixed_words) {
    return directive;
  }
  const auto [begin, end] = one_of(places);
  const std::string other =
      is_part_of_number(text[begin])
          ? fmt::format("{}", one_of<int>({-2147483647, -1, 0,  1,  1,   2,   2,   3,   4,   4,    5,     6,
                                           7,           8,  8,  9,  12,  16,  16,  17,  24,  31,   32,    33,
                                           48,          64, 65, 96, 128, 129, 256, 512, 513, 1024, 65536, 2147483647}))
          : one_of<std::string>({"i",        "j",     "k",     "A",    "B",    "C",     "task", "block",  "set",
                                 "place",    "part",  "group", "lane", "tile", "piece", "c",    "packet", "tile_slot",
                                 "row_tile", "count", "sums",  "list", "warp", "v",     "u",    "e"});
  return parse_directive(text.replace(begin, end - begin, other));
}

/// One mistake, or one idea, of a user.
void ScriptDraw::spoil(std::vector<Directive>& script) {
  const auto somewhere = [&](std::size_t most) { return static_cast<std::ptrdiff_t>(below(static_cast<int>(most))); };
  if (script.empty() || chance(15)) {
    const Directive added = any_directive();
    script.insert(script.begin() + somewhere(script.size() + 1), added);
    return;
  }
  const auto chosen = script.begin() + somewhere(script.size());
  switch (below(6)) {
    case 0:
      script.erase(chosen);
      break;
    case 1:
      exchange(*chosen, script[static_cast<std::size_t>(somewhere(script.size()))]);
      break;
    case 2:
      if (chosen + 1 != script.end()) {
        exchange(*chosen, *(chosen + 1));
      }
      break;
    case 3: {
      const Directive repeated = *chosen;
      script.insert(script.begin() + somewhere(script.size() + 1), repeated);
      break;
    }
    default:
      *chosen = with_another_parameter(*chosen);
  }
}

SparseMatrix ScriptDraw::matrix() {
  SparseMatrix matrix{
      one_of<std::int64_t>({1, 1, 2, 3, 5, 8, 9, 13}), one_of<std::int64_t>({1, 1, 2, 7, 8, 16, 25, 33}), {0}, {}, {}};
  const auto seed = random_();
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    const auto per_cent = one_of<std::uint64_t>({0, 0, 10, 40, 70, 100});
    for (std::int64_t column = 0; column < matrix.columns; ++column) {
      if (mix_bits(seed ^ static_cast<std::uint64_t>(row * matrix.columns + column)) % 100 < per_cent) {
        matrix.column_of.push_back(static_cast<std::int32_t>(column));
        matrix.values.push_back(drawn_value(seed, row, column));
      }
    }
    matrix.offsets.push_back(matrix.nonzeros());
  }
  return matrix;
}

}  // namespace esc::tests
