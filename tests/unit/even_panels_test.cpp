// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/even_panels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/schedule/scheduler.h"

namespace esc {
namespace {

const KernelTarget& of_h200() {
  static const KernelTarget target = kernel_target(device_of_gpu("h200").key, {});
  return target;
}

LayerShape half_layer(std::int64_t rows, std::int64_t columns, double zeros, long long bcol) {
  const double elements = static_cast<double>(rows) * static_cast<double>(columns);
  return {.bcol = bcol,
          .rows = rows,
          .columns = columns,
          .nonzeros = static_cast<std::int64_t>(elements * (1 - zeros)),
          .dtype = "f16"};
}

std::vector<ScheduleChoice> one_choice(const std::string& schedule) {
  return {{parse_schedule(schedule), "database: mine", {}, {}, {}, {}}};
}

std::vector<std::string> schedules_of(const std::vector<ScheduleChoice>& choices) {
  std::vector<std::string> texts;
  for (const ScheduleChoice& choice : choices) {
    texts.push_back(print(choice.schedule));
  }
  return texts;
}

/// Rows of a layer, how many panels a block gets, and how many the busiest of 132 multiprocessors has then.
struct DealtRows {
  std::int64_t rows;
  int panels;
  std::int64_t busiest;
};

class EvenPanels : public testing::TestWithParam<DealtRows> {};

TEST_P(EvenPanels, LeaveTheBusiestMultiprocessorTheLeast) {
  const DealtRows& one = GetParam();
  const StreamedSize size = streamed_size(half_layer(one.rows, 4096, 0.7, 8));
  EXPECT_EQ(even_panels(size, 8, of_h200()), one.panels);
  EXPECT_EQ(busiest_panels({.columns = 8, .panels = one.panels}, size, of_h200()), one.busiest);
  for (int panels = 2; panels <= 7; ++panels) {
    EXPECT_GE(busiest_panels({.columns = 8, .panels = panels}, size, of_h200()), one.busiest) << panels;
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, EvenPanels,
                         testing::Values(DealtRows{4096, 2, 2}, DealtRows{5120, 3, 3}, DealtRows{8192, 4, 4},
                                         DealtRows{11008, 6, 6}, DealtRows{14336, 7, 7}, DealtRows{18944, 3, 9},
                                         DealtRows{28672, 7, 14}, DealtRows{16, 2, 2}),
                         [](const auto& dealt) { return std::to_string(dealt.param.rows); });

TEST(EvenPanelsOfAChoice, StandInFrontOfWhatWasMeasuredOnOtherSizes) {
  const auto choices =
      with_even_panels(one_choice("stream:columns=32,panels=6,warps=2,stages=2,copies=bulk"),
                       half_layer(14336, 4096, 0.7, 32), of_h200(), class_of(half_layer(11008, 4096, 0.5, 32)));
  EXPECT_THAT(schedules_of(choices),
              testing::ElementsAre("stream: tile=112x256x32, warps=14, stages=2, copy=tma, pdl=on",
                                   "stream: tile=96x256x32, warps=12, stages=2, copy=tma, pdl=on"));
  EXPECT_EQ(choices.front().source, "database: mine; with panels that are dealt evenly to the multiprocessors by rule");
  EXPECT_EQ(choices.back().source, "database: mine");
}

/// What was measured of the other schedule is not said of it.
TEST(EvenPanelsOfAChoice, HaveNoMeasuredRatios) {
  std::vector<ScheduleChoice> measured = one_choice("stream:columns=8,panels=4,warps=2,stages=4");
  const LayerShape shape = half_layer(11008, 4096, 0.5, 8);
  const TargetDevice h200{"NVIDIA H200", device_of_gpu("h200").key};
  measured.front().database = DatabaseHead{.key = h200.key, .device = h200.name, .dtype = shape.dtype};
  measured.front().evidence = Measurement(
      case_of(measured.front().schedule, shape, h200),
      {.over_exact = 1.5, .over_tf32 = {}, .exact_microseconds = 30, .where = "the class", .device = h200.name});
  measured.front().notes = {"a library was faster"};
  const auto choices = with_even_panels(measured, shape, of_h200(), class_of(half_layer(8192, 8192, 0.5, 8)));
  ASSERT_EQ(choices.size(), 2U);
  const auto settle = [&](const ScheduleChoice& choice) {
    return settled(choice, case_of(choice.schedule, shape, h200));
  };
  EXPECT_FALSE(settle(choices.front()).measured);
  EXPECT_EQ(settle(choices.front()).not_measured, "the schedule that was measured is another one");
  EXPECT_THAT(choices.front().notes, testing::IsEmpty());
  EXPECT_TRUE(settle(choices.back()).measured);
  EXPECT_THAT(choices.back().notes, testing::SizeIs(1));
}

/// With 50 % zeros the stages of two warps would need 241 KB.
TEST(EvenPanelsOfAChoice, HaveAsManyWarpsAsSharedMemoryAllows) {
  const auto choices =
      with_even_panels(one_choice("stream:columns=32,panels=6,warps=2,stages=2,copies=bulk"),
                       half_layer(14336, 4096, 0.5, 32), of_h200(), class_of(half_layer(11008, 4096, 0.5, 32)));
  EXPECT_EQ(schedules_of(choices).front(), "stream: tile=112x256x32, warps=7, stages=2, copy=tma, pdl=on");
}

/// In the middle of the class of 8192 x 8192 four panels a block are four for each multiprocessor; of 9216 rows they
/// are eight for some, and five are five.
TEST(EvenPanelsOfAChoice, StandBehindWhatWasMeasuredOnTheseSizesUnlessTheseRowsAreClearlyLessEven) {
  const LayerClass measured = class_of(half_layer(8192, 8192, 0.5, 8));
  const auto schedules_for = [&](const std::string& schedule, std::int64_t rows) {
    return schedules_of(with_even_panels(one_choice(schedule), half_layer(rows, 8192, 0.5, 8), of_h200(), measured));
  };
  const std::string four = "stream: tile=64x256x8, warps=8, stages=4, copy=cp_async, pdl=on";
  EXPECT_THAT(schedules_for(four, 8192), testing::ElementsAre(four));
  EXPECT_THAT(schedules_for(four, 9216),
              testing::ElementsAre("stream: tile=80x256x8, warps=10, stages=2, copy=tma, pdl=on", four));
  // As uneven as where it was measured.
  EXPECT_THAT(schedules_for("stream:columns=8,panels=3,warps=2,stages=3", 8192), testing::SizeIs(1));
}

TEST(EvenPanelsOfAChoice, AreForStreamsOfLargeLayersInSixteenBits) {
  const std::string uneven = "stream:columns=8,panels=4,warps=2,stages=4";
  const auto stay = [](const std::string& schedule, const LayerShape& shape, const KernelTarget& target) {
    return schedules_of(with_even_panels(one_choice(schedule), shape, target, class_of(half_layer(8192, 8192, 0.5, 8))))
               .size() == 1;
  };
  EXPECT_FALSE(stay(uneven, half_layer(11008, 4096, 0.7, 8), of_h200()));
  EXPECT_TRUE(stay("panel:ufi=2,columns=8,panels=4", half_layer(11008, 4096, 0.7, 8), of_h200()));
  EXPECT_TRUE(stay("stream:columns=8,panels=4,warps=2,stages=2,rows=32", half_layer(11008, 4096, 0.7, 8), of_h200()));
  EXPECT_TRUE(stay(uneven, half_layer(2752, 4096, 0.7, 8), of_h200()));
  EXPECT_TRUE(stay(uneven, half_layer(11008, 4096, 0.7, 64), of_h200()));
  EXPECT_TRUE(stay(uneven, half_layer(11008, 4096, 0.7, 8), kernel_target(device_of_gpu("a100").key, {})));
  LayerShape tokens = half_layer(11008, 4096, 0.7, 8);
  tokens.layout = "nk";
  EXPECT_TRUE(stay(uneven, tokens, of_h200()));
  LayerShape floats = half_layer(11008, 4096, 0.7, 8);
  floats.dtype = "f32";
  EXPECT_TRUE(stay(uneven, floats, of_h200()));
}

/// What the shipped database gives for 11,008 x 4096, which it has, and for a layer of other rows.
TEST(EvenPanelsOfAChoice, AreWhatAutoTakes) {
  const DeviceKey device = device_of_gpu("h200").key;
  const auto panels_of = [](const ScheduleChoice& choice) { return std::get<StreamSchedule>(choice.schedule).panels; };
  EXPECT_EQ(panels_of(choose_schedule(half_layer(28672, 8192, 0.5, 32), device)), 7);
  const ScheduleChoice other = choose_schedule(half_layer(13824, 5120, 0.3, 8), device);
  EXPECT_EQ(panels_of(other), 7);
  EXPECT_THAT(other.source, testing::AllOf(testing::StartsWith("database: "),
                                           testing::EndsWith("dealt evenly to the multiprocessors by rule")));
}

}  // namespace
}  // namespace esc
