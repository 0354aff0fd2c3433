// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/scheduler.h"
#include "generator/schedule/target.h"

namespace esc::test {

/// A layer with so large a share of non-zeros in rows of equal lengths.
inline LayerShape layer_of(std::int64_t rows, std::int64_t columns, double density, long long bcol, std::string dtype = "f32") {
  return {.bcol = bcol, .rows = rows, .columns = columns, .nonzeros = static_cast<std::int64_t>(static_cast<double>(rows * columns) * density), .dtype = std::move(dtype)};
}

inline constexpr KernelTarget hopper{.oldest_architecture = 90, .newest_architecture = 90};
inline constexpr KernelTarget ampere_and_hopper{.oldest_architecture = 80, .newest_architecture = 90};

/// What a rule says of a layer, as text.
struct ExpectedSchedule {
  LayerShape shape;
  const char* schedule;
};

using Rule = std::vector<ScheduleChoice> (*)(const LayerShape&, const KernelTarget&);

/// The rule has so many legal choices for each layer, the first as expected, and is what `auto` follows. Failures are GoogleTest's.
inline void expect_choices(Rule rule, std::span<const ExpectedSchedule> table, std::size_t count, const std::string& source) {
  for (const auto& [shape, schedule] : table) {
    const std::string layer = testing::PrintToString(shape.rows) + " x " + testing::PrintToString(shape.columns) + ", bCol " + testing::PrintToString(shape.bcol);
    const std::vector<ScheduleChoice> choices = rule(shape, hopper);
    ASSERT_THAT(choices, testing::SizeIs(count)) << layer;
    EXPECT_EQ(print(choices.front().schedule), schedule) << layer;
    for (const ScheduleChoice& choice : choices) {
      EXPECT_NO_THROW(check_legal(choice.schedule, shape.bcol)) << layer;
    }
    EXPECT_THAT(choose_schedule(shape).source, testing::StartsWith(source)) << layer;
  }
}

/// The rule has nothing for these layers, nor for one that it has something for where older GPUs are to run it, elements are of another type, B lies in
/// another layout, or a row is full.
inline void expect_no_choices(Rule rule, std::span<const LayerShape> layers, const LayerShape& measured, const std::string& other_type) {
  EXPECT_THAT(rule(measured, ampere_and_hopper), testing::IsEmpty());
  for (const LayerShape& shape : layers) {
    EXPECT_THAT(rule(shape, hopper), testing::IsEmpty()) << shape.rows << " x " << shape.columns << ", " << shape.nonzeros << ", bCol " << shape.bcol;
  }
  LayerShape other = measured;
  other.dtype = other_type;
  EXPECT_THAT(rule(other, hopper), testing::IsEmpty());
  other = measured;
  other.layout = "nk";
  EXPECT_THAT(rule(other, hopper), testing::IsEmpty());
  other = measured;
  other.longest_row = measured.columns;
  other.row_variation = 3;
  EXPECT_THAT(rule(other, hopper), testing::IsEmpty());
}

}  // namespace esc::test
