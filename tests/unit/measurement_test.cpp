// SPDX-License-Identifier: Apache-2.0
// What was measured is said of that alone.

#include "generator/schedule/measurement.h"

#include <gmock/gmock.h>

#include "generator/schedule/schedule_choice.h"
#include "tests/support/layer_shapes.h"

namespace esc {
namespace {

using test::layer_of;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const TargetDevice measured_gpu{"NVIDIA H200", {90, 132, std::uint64_t{60} << 20}};

MeasuredCase measured_case() {
  return case_of(parse_schedule("panel:warps=4"), layer_of(512, 512, 0.1, 32), measured_gpu);
}

Measurement measurement() {
  return {measured_case(),
          {.over_exact = 0.8, .exact_microseconds = 4, .where = "the class", .device = measured_gpu.name}};
}

TEST(Measurement, IsOfTheCaseThatWasMeasured) {
  EXPECT_EQ(measurement().of(measured_case())->over_exact, 0.8);
  EXPECT_EQ(measurement().why_not(measured_case()), "");
}

TEST(Measurement, IsOfNoOtherCase) {
  std::vector<std::pair<MeasuredCase, std::string>> others(7, {measured_case(), ""});
  others[0].first.schedule = parse_schedule("panel:warps=2");
  others[0].second = "schedule that was measured is another one";
  others[1].first.scattered = false;
  others[1].second = "are in blocks";
  others[2].first.dtype = "bf16";
  others[2].second = "is of f32";
  others[3].first.layout = "nk";
  others[3].second = "in layout kn";
  others[4].first.bcol = 48;
  others[4].second = "of 32 columns of B";
  others[5].first.epilogue = true;
  others[5].second = "without the epilogue";
  others[6].first.device = device_of_gpu("h100");
  others[6].second = "one NVIDIA H200";
  for (const auto& [other, why] : others) {
    EXPECT_FALSE(measurement().of(other)) << why;
    EXPECT_THAT(measurement().why_not(other), HasSubstr(why));
  }
}

TEST(Measurement, IsOnTheDeviceAlone) {
  EXPECT_TRUE(is_measured_on(device_of_gpu("h200"), measured_gpu));
  EXPECT_TRUE(is_measured_on(device_of_architecture(90), measured_gpu)) << "of which nothing else is known";
  for (const char* const gpu : {"gh200", "h100", "a100", "b200", "gb200", "b300", "rtx5090", "t4"}) {
    EXPECT_FALSE(is_measured_on(device_of_gpu(gpu), measured_gpu)) << gpu;
  }
  EXPECT_FALSE(is_measured_on(device_of_architecture(100), measured_gpu));
  const TargetDevice b200{"NVIDIA B200", {100, 148, std::uint64_t{126} << 20}};
  EXPECT_TRUE(is_measured_on(device_of_gpu("b200"), b200)) << "whose cache is not known here";
  EXPECT_FALSE(is_measured_on(device_of_gpu("gb200"), b200)) << "another one";
}

TEST(SettledChoice, SaysNothingOfAnotherSchedule) {
  const LayerShape large = layer_of(16384, 8192, 0.3, 64, "f16");
  const ScheduleChoice measured{
      .schedule = parse_schedule("stream:columns=32,panels=2,warps=2,stages=2"),
      .source = "database: mine",
      .database = DatabaseHead{.key = measured_gpu.key, .device = measured_gpu.name, .dtype = "f16"},
      .evidence =
          Measurement(case_of(parse_schedule("stream:columns=32,panels=2,warps=2,stages=2"), large, measured_gpu),
                      {.over_exact = 0.5, .where = "the class", .device = measured_gpu.name})};
  const auto settle = [&](const ScheduleChoice& choice) {
    return settled(choice, case_of(choice.schedule, large, measured_gpu));
  };
  EXPECT_EQ(settle(measured).measured->over_exact, 0.5);
  EXPECT_THAT(settle(measured).notes, SizeIs(1));
  ScheduleChoice other = measured;
  other.schedule = parse_schedule("stream:columns=32,panels=4,warps=2,stages=2");
  const ScheduleChoice changed = settle(other);
  EXPECT_FALSE(changed.measured);
  EXPECT_EQ(changed.not_measured, "the schedule that was measured is another one");
  EXPECT_THAT(changed.notes, IsEmpty());
}

}  // namespace
}  // namespace esc
