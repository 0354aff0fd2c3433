// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/quotient_up.h"
#include "generator/schedule/scheduler.h"
#include "generator/schedule/target.h"

namespace esc::test {

/// A layer with so large a share of non-zeros in rows of equal lengths.
inline LayerShape layer_of(std::int64_t rows, std::int64_t columns, double density, long long bcol,
                           std::string dtype = "f32") {
  return {.bcol = bcol,
          .rows = rows,
          .columns = columns,
          .nonzeros = static_cast<std::int64_t>(static_cast<double>(rows * columns) * density),
          .dtype = std::move(dtype)};
}

inline constexpr KernelTarget hopper{.oldest_architecture = 90, .newest_architecture = 90};
inline constexpr KernelTarget ampere_and_hopper{.oldest_architecture = 80, .newest_architecture = 90};

inline std::string print(const LayerShape& shape) {
  return fmt::format("{} x {}, {} non-zeros, bCol {}, {}", shape.rows, shape.columns, shape.nonzeros, shape.bcol,
                     shape.dtype);
}

/// The multiprocessor that has most rows of a stream has as few as can be: panels are dealt out in whole blocks.
inline void expect_even_panels(const LayerShape& shape, const Schedule& schedule) {
  const auto& stream = std::get<StreamSchedule>(schedule);
  const std::int64_t panels = quotient_up(shape.rows, std::int64_t{stream.rows});
  const std::int64_t blocks = quotient_up(panels, std::int64_t{stream.panels});
  const std::int64_t multiprocessors = hopper.multiprocessors;
  EXPECT_EQ(quotient_up(blocks, multiprocessors) * stream.panels, quotient_up(panels, multiprocessors))
      << print(shape) << ": " << print(schedule);
}

using Rule = std::vector<ScheduleChoice> (*)(const LayerShape&, const KernelTarget&);

/// The rule has so many legal choices for each layer, is what `auto` follows, and `expect` holds of the first. Which
/// schedule it is nobody decides but what was measured (tests/unit/tuner/measured_choice_test.cpp). Failures are
/// GoogleTest's.
template <typename Expect>
void expect_choices(Rule rule, std::span<const LayerShape> layers, std::size_t count, const std::string& source,
                    const Expect& expect) {
  for (const LayerShape& shape : layers) {
    const std::vector<ScheduleChoice> choices = rule(shape, hopper);
    ASSERT_THAT(choices, testing::SizeIs(count)) << print(shape);
    expect(shape, choices.front().schedule);
    for (const ScheduleChoice& choice : choices) {
      EXPECT_NO_THROW(check_legal(choice.schedule, shape.bcol)) << print(shape);
    }
    EXPECT_THAT(choose_schedule(shape).source, testing::StartsWith(source)) << print(shape);
  }
}

/// The rule has nothing for these layers, nor for one that it has something for where older GPUs are to run it,
/// elements are of another type, B lies in another layout, or a row is full.
inline void expect_no_choices(Rule rule, std::span<const LayerShape> layers, const LayerShape& measured,
                              const std::string& other_type) {
  EXPECT_THAT(rule(measured, ampere_and_hopper), testing::IsEmpty());
  for (const LayerShape& shape : layers) {
    EXPECT_THAT(rule(shape, hopper), testing::IsEmpty()) << print(shape);
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
