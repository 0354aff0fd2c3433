// SPDX-License-Identifier: Apache-2.0
// What a user has measured counts where it was measured, and nowhere else.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "generator/schedule/scheduler.h"
#include "tests/support/run_size.h"

namespace esc {
namespace {

constexpr DeviceKey h200{90, 132, 60ULL << 20};

template <class Value>
Value one_of(const std::vector<Value>& values, std::mt19937_64& draws) {
  return values[draws() % values.size()];
}

LayerShape drawn_layer(std::mt19937_64& draws) {
  LayerShape shape{.bcol = one_of<long long>({1, 8, 16, 32, 64, 128, 256}, draws),
                   .rows = std::int64_t{1} << (6 + draws() % 8),
                   .columns = std::int64_t{1} << (6 + draws() % 8),
                   .pattern = std::string(64, 'a'),
                   .layout = one_of<std::string>({"kn", "nk"}, draws),
                   .dtype = one_of<std::string>({"f32", "f64", "tf32", "f16", "bf16"}, draws),
                   .cache = one_of<CacheState>({CacheState::warm, CacheState::cold}, draws)};
  const std::int64_t of_row =
      std::max<std::int64_t>(1, shape.columns * static_cast<std::int64_t>(5 + draws() % 50) / 100);
  shape.nonzeros = shape.rows * of_row;
  shape.longest_row = of_row + of_row / 4;
  return shape;
}

/// Schedules of all kinds that are legal for the columns, those among them that rules stand for.
std::vector<Schedule> schedules_for(const LayerShape& shape) {
  std::vector<Schedule> schedules;
  for (const ScheduleDatabase& database : shipped_databases()) {
    for (const CandidateEntry& candidate : database.candidates_of(*database.nearest_bcol(shape.bcol))) {
      schedules.push_back(candidate.schedule);
    }
  }
  for (const ScheduleChoice& choice : ranked_schedules(shape, databases_for(shape, h200, {&shipped_databases()}))) {
    schedules.push_back(choice.schedule);
  }
  return schedules;
}

/// A database of a user that has measured layers of one class, and one layer that is none of these here.
ScheduleDatabase drawn_database(const LayerShape& shape, const LayerClass& layers, const std::string& pattern,
                                std::mt19937_64& draws) {
  const std::vector<Schedule> schedules = schedules_for(shape);
  DatabaseEntries entries;
  ClassEntry measured{layers, 1, {}, {}, {}};
  for (int number = 0; number < 4; ++number) {
    const Schedule schedule = one_of(schedules, draws);
    entries.candidates.push_back({layers.bcol, number, schedule});
    measured.losses.push_back({static_cast<double>(draws() % 50), false});
  }
  entries.classes = {measured};
  entries.layers = {{layers.bcol, pattern, one_of(schedules, draws), 1.2, {}, {}}};
  return {{.key = h200, .device = "My GPU", .dtype = shape.dtype, .layout = shape.layout}, entries};
}

/// Farther from the layer than anything that was measured.
LayerClass far_class(const LayerShape& shape) {
  constexpr int octaves = 20;
  LayerClass layers = class_of(shape);
  layers.rows += 2 * octaves;
  return layers;
}

ScheduleChoice first_with(const LayerShape& shape, const std::vector<ScheduleDatabase>& mine) {
  return ranked_schedules(shape, databases_for(shape, h200, {&mine, &shipped_databases()}), {}).front();
}

constexpr int draws_of_a_run = 60;

TEST(FarMeasurements, ChangeNoChoice) {
  std::mt19937_64 draws(tests::seed_of_the_run());
  for (int draw = 0; draw < draws_of_a_run; ++draw) {
    const LayerShape shape = drawn_layer(draws);
    const std::vector<ScheduleDatabase> mine{drawn_database(shape, far_class(shape), std::string(64, 'b'), draws)};
    const ScheduleChoice with = first_with(shape, mine);
    const ScheduleChoice without = first_with(shape, {});
    EXPECT_EQ(print(with.schedule), print(without.schedule))
        << shape.dtype << " " << shape.layout << " " << shape.rows << " x " << shape.columns << ", bCol " << shape.bcol
        << ", by " << with.source << " in place of " << without.source;
  }
}

TEST(FarMeasurements, OfTheVeryLayerWin) {
  std::mt19937_64 draws(tests::seed_of_the_run());
  for (int draw = 0; draw < draws_of_a_run; ++draw) {
    const LayerShape shape = drawn_layer(draws);
    const std::vector<ScheduleDatabase> mine{drawn_database(shape, class_of(shape), shape.pattern, draws)};
    const ScheduleChoice first = first_with(shape, mine);
    EXPECT_TRUE(first.is_own) << first.source;
    EXPECT_TRUE(first.source.ends_with("this very layer")) << first.source;
  }
}

}  // namespace
}  // namespace esc
