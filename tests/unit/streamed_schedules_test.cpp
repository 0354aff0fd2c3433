// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/streamed_schedules.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "generator/schedule/element_types.h"
#include "generator/schedule/listed_streams.h"
#include "generator/schedule/scheduler.h"
#include "generator/schedule/streamed_size.h"
#include "tests/support/rule_layers.h"

namespace esc {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

KernelTarget target_of(const std::string& gpu) {
  const TargetDevice device = device_of_gpu(gpu);
  return kernel_target(device.key, {device.key.capability});
}

LayerShape layer(std::int64_t rows, std::int64_t columns, double zeros, long long bcol,
                 const std::string& dtype = "f16") {
  return {.bcol = bcol,
          .rows = rows,
          .columns = columns,
          .nonzeros = static_cast<std::int64_t>(static_cast<double>(rows) * static_cast<double>(columns) * (1 - zeros)),
          .dtype = dtype};
}

LayerShape in_layout(const std::string& layout, LayerShape shape) {
  shape.layout = layout;
  shape.contiguous = layout != "nk";
  return shape;
}

/// Float32, images whose channels lie apart, filters with taps.
LayerShape of_taps(std::int64_t rows, std::int64_t columns, double zeros, long long bcol) {
  return in_layout("n_k_nk_nk.n_m_n_n", layer(rows, columns, zeros, bcol, "f32"));
}

LayerShape with_row_variation(double variation, LayerShape shape) {
  shape.row_variation = variation;
  return shape;
}

struct RuleCase {
  std::string gpu;
  LayerShape shape;
};

/// So that a failure says which.
std::string print(const RuleCase& one) {
  return fmt::format("{}, {} x {}, {} non-zeros, bCol {}, {} {}", one.gpu, one.shape.rows, one.shape.columns,
                     one.shape.nonzeros, one.shape.bcol, one.shape.dtype, one.shape.layout);
}

/// Which schedule a layer gets is judged by what was measured (tests/unit/tuner/measured_choice_test.cpp); which layers
/// are streamed is what docs/journal/2026-11-28-database.md says.
TEST(StreamedSchedules, AreForLayersOfManyNonZeros) {
  for (const RuleCase& one : {
           RuleCase{"h200", layer(8192, 8192, 0.7, 8)},
           RuleCase{"h200", layer(512, 512, 0.7, 32)},
           RuleCase{"h200", layer(8192, 256, 0.7, 8)},
           RuleCase{"h200", layer(500, 500, 0.7, 3)},
           RuleCase{"h200", layer(4096, 4096, 0.9, 8)},
           RuleCase{"a100", layer(8192, 8192, 0.7, 8)},
           RuleCase{"l4", layer(8192, 8192, 0.7, 32)},
           // Three products of float32 want warps, and columns of C.
           RuleCase{"h200", layer(4096, 4096, 0.8, 32, "f32")},
           RuleCase{"h200", layer(11008, 4096, 0.93, 64, "f32")},
           RuleCase{"h200", layer(1024, 512, 0.8, 256, "f32")},
           RuleCase{"a100", layer(512, 512, 0.6, 256, "f32")},
           RuleCase{"h200", layer(1024, 2048, 0.7, 32, "f32")},
           // One product in place of three pays in small layers too.
           RuleCase{"h200", layer(512, 512, 0.5, 128, "tf32")},
           RuleCase{"h200", layer(11008, 4096, 0.95, 64, "tf32")},
           RuleCase{"a100", layer(2048, 512, 0.7, 64, "tf32")},
           // Images: filters of three by three, and steps of two pixels.
           RuleCase{"h200", of_taps(64, 576, 0.5, 100352)},
           RuleCase{"h200", of_taps(256, 2304, 0.7, 196)},
           RuleCase{"a100", of_taps(256, 2304, 0.8, 6272)},
           RuleCase{"h200", in_layout("n_k_2n_2n.n_m_n_n", layer(512, 256, 0.7, 6272, "f32"))},
       }) {
    const std::vector<ScheduleChoice> choices = streamed_schedules(one.shape, target_of(one.gpu));
    ASSERT_FALSE(choices.empty()) << print(one);
    EXPECT_EQ(family(choices.front().schedule), "stream") << print(one);
    EXPECT_THAT(choices.front().source, StartsWith("by rule: layers of this size and share of zeros are streamed; "))
        << print(one);
    EXPECT_FALSE(choices.front().database) << print(one);
  }
}

TEST(StreamedSchedules, LeaveOtherLayersToOtherFamilies) {
  for (const RuleCase& one : {
           // What fills up the last panel and the last window counts as zeros.
           RuleCase{"h200", layer(1000, 300, 0.8, 8)},
           // Sparse, small and uneven layers are for kernels that skip zeros.
           RuleCase{"h200", layer(2048, 2048, 0.9, 8)},
           RuleCase{"h200", layer(2048, 2048, 0.9, 32)},
           RuleCase{"h200", layer(8192, 8192, 0.95, 8)},
           RuleCase{"h200", layer(256, 512, 0.5, 8)},
           RuleCase{"h200", layer(1, 1, 0, 1)},
           RuleCase{"h200", with_row_variation(1.5, layer(8192, 8192, 0.7, 8))},
           // They do not pay where a layer is small, or sparse, or has few columns of C or few windows.
           RuleCase{"h200", layer(2048, 2048, 0.9, 128, "f32")},
           RuleCase{"h200", layer(1024, 1024, 0.7, 64, "f32")},
           RuleCase{"h200", layer(512, 512, 0.8, 256, "f32")},
           RuleCase{"h200", layer(2048, 512, 0.9, 256, "f32")},
           RuleCase{"h200", layer(33288, 512, 0.6, 128, "f32")},
           RuleCase{"h200", layer(1024, 2048, 0.8, 32, "f32")},
           RuleCase{"h200", layer(1024, 4096, 0.9, 64, "f32")},
           RuleCase{"h200", layer(1024, 1024, 0.5, 32, "f32")},
           RuleCase{"a100", layer(1024, 4096, 0.7, 64, "f32")},
           RuleCase{"h200", layer(512, 512, 0.5, 64, "tf32")},
           RuleCase{"h200", layer(2048, 512, 0.7, 32, "tf32")},
           RuleCase{"h200", layer(2048, 512, 0.9, 128, "tf32")},
           // Panels are faster for sparse filters, for few columns of C, or channels that stand beside each other; of
           // points the databases know more.
           RuleCase{"h200", of_taps(64, 576, 0.98, 100352)},
           RuleCase{"h200", of_taps(128, 1152, 0.9, 784)},
           RuleCase{"h200", of_taps(512, 4608, 0.8, 49)},
           RuleCase{"h200", in_layout("n_k_n_n.n_m_n_n", layer(256, 64, 0.7, 100352, "f32"))},
           RuleCase{"h200", in_layout("n_k_n_n.n_m_n_n", layer(256, 1024, 0.7, 6272, "f32"))},
           RuleCase{"h200", in_layout("n_nk_nk_k.n_n_n_m", layer(256, 2304, 0.7, 6272, "f32"))},
           // Other elements, other layouts, and GPUs without sparse tensor cores.
           RuleCase{"h200", layer(8192, 8192, 0.7, 8, "f32")},
           RuleCase{"h200", layer(8192, 8192, 0.7, 8, "f64")},
           RuleCase{"h200", in_layout("nk", layer(8192, 8192, 0.7, 32, "f32"))},
           RuleCase{"h200", in_layout("nk", layer(2048, 512, 0.7, 128, "tf32"))},
           RuleCase{"h200", in_layout("n_k_n_n.n_m_n_n", layer(8192, 8192, 0.7, 8))},
           RuleCase{"t4", layer(8192, 8192, 0.7, 8)},
       }) {
    EXPECT_THAT(streamed_schedules(one.shape, target_of(one.gpu)), IsEmpty()) << print(one);
  }
}

TEST(StreamedSchedules, AreLegalAndFitOnEveryTarget) {
  std::map<std::string, int> found;
  for (const std::string gpu :
       {"h200", "h100", "a100", "a30", "a10", "rtx3090", "l4", "l40s", "gh200", "b200", "gb200", "rtx5090"}) {
    const KernelTarget target = target_of(gpu);
    for (const std::int64_t rows : {1, 16, 500, 512, 1000, 2112, 2113, 4096, 11008, 28672, 100000, 2000000}) {
      for (const std::int64_t columns : {1, 200, 256, 257, 512, 2048, 4096, 28672, 100000}) {
        for (const double zeros : {0.0, 0.5, 0.85, 0.9}) {
          for (const long long bcol : {1, 7, 8, 9, 32, 33, 64, 100, 1000, 100000}) {
            for (const std::string dtype : {"f16", "f32", "tf32"}) {
              const LayerShape shape = layer(rows, columns, zeros, bcol, dtype);
              const std::vector<ScheduleChoice> choices = streamed_schedules(shape, target);
              found[dtype] += choices.empty() ? 0 : 1;
              for (const ScheduleChoice& choice : choices) {
                EXPECT_NO_THROW(check_legal(choice.schedule, bcol)) << print(choice.schedule) << ", bCol " << bcol;
              }
              const bool has_only_dense_steps = std::ranges::all_of(choices, [](const ScheduleChoice& choice) {
                return std::get<StreamSchedule>(choice.schedule).dense != StreamSchedule::Dense::off;
              });
              if (!has_only_dense_steps) {
                const auto& last = std::get<StreamSchedule>(choices.back().schedule);
                EXPECT_TRUE(last.columns == 8 && last.panels == 1 && last.warps == 1 && last.stages == 2)
                    << print(last) << ", which needs least shared memory of all";
              }
            }
          }
        }
      }
    }
  }
  EXPECT_GT(found["f16"], 5000);
  EXPECT_GT(found["f32"], 1000);
  EXPECT_GT(found["tf32"], found["f32"]);
}

/// Large ones are taken where float32's are, which is said not to have been measured, but for those of many non-zeros.
TEST(StreamedSchedules, OfTf32FollowFloat32) {
  const KernelTarget h200 = target_of("h200");
  const std::vector<ScheduleChoice> choices = streamed_schedules(layer(2048, 4096, 0.8, 128, "tf32"), h200);
  ASSERT_FALSE(choices.empty());
  EXPECT_EQ(choices.front().source,
            "by rule: layers of this size and share of zeros are streamed; not measured for tf32");
  EXPECT_THAT(print(choices.front().schedule), testing::HasSubstr("copy=tma, "));
  EXPECT_THAT(streamed_schedules(layer(512, 512, 0.7, 64, "tf32"), h200), IsEmpty());
  EXPECT_THAT(streamed_schedules(in_layout("nk", layer(4096, 4096, 0.7, 128, "tf32")), h200), IsEmpty());
  EXPECT_THAT(types_like("tf32"), testing::ElementsAre("tf32", "f32"));
  EXPECT_THAT(types_like("f32"), testing::ElementsAre("f32"));
}

TEST(StreamedSchedules, FitEachOfTheArchitecturesThatAKernelIsBuiltFor) {
  const KernelTarget both = kernel_target(device_of_gpu("h200").key, {80, 90});
  EXPECT_EQ(both.oldest_architecture, 80);
  EXPECT_EQ(both.multiprocessors, 132);
  EXPECT_EQ(both.shared_bytes, shared_bytes_per_block(80));
  EXPECT_EQ(kernel_target({}, {}).multiprocessors, 132);
  EXPECT_EQ(kernel_target({}, {}).memory_gigabytes, both.memory_gigabytes);
  EXPECT_LT(kernel_target(device_of_gpu("h100").key, {}).memory_gigabytes, both.memory_gigabytes);
  const LayerShape shape = layer(8192, 8192, 0.7, 8);
  const ScheduleChoice choice = streamed_schedules(shape, both).front();
  EXPECT_TRUE(
      fits_shared_memory(std::get<StreamSchedule>(choice.schedule), streamed_size(shape).unit_bytes, shape, both));
  EXPECT_THAT(streamed_schedules(layer(8192, 8192, 0.7, 8), kernel_target(device_of_gpu("h200").key, {75, 90})),
              IsEmpty());
}

/// What somebody has measured of the very layer counts more than what holds for layers like it; what this program has
/// of it was measured with other families alone.
TEST(StreamedSchedules, StandBehindALayerOfYourDatabase) {
  LayerShape shape = layer(4096, 4096, 0.7, 128, "f32");
  shape.pattern = std::string(64, 'a');
  const Schedule measured = parse_schedule("panel:columns=32,warps=4");
  const ScheduleDatabase yours(shipped_database().head(),
                               {.layers = {{.bcol = 128, .pattern = shape.pattern, .schedule = measured}}});
  const std::array<const ScheduleDatabase*, 2> both{&yours, &shipped_database()};
  EXPECT_EQ(ranked_schedules(shape, both).front().schedule, measured);
  shape.pattern = std::string(64, 'b');
  EXPECT_THAT(ranked_schedules(shape, both).front().source, StartsWith("by rule"));
}

TEST(StreamedSchedules, StandInFrontOfThoseMeasuredInFloat32) {
  const DeviceKey h200 = device_of_gpu("h200").key;
  for (const std::string dtype : {"f16", "bf16"}) {
    LayerShape large = layer(4096, 4096, 0.7, 4, dtype);
    EXPECT_THAT(choose_schedule(large, h200).source, StartsWith("database: one NVIDIA H200"));
    EXPECT_EQ(choose_schedule(large, h200).database->dtype, "f16");
    EXPECT_EQ(family(choose_schedule(in_layout("nk", large), h200).schedule), "bitmap");
    // With so many zeros that bitmaps are not taken, in a layout in which no other layer of 16 bits has been measured.
    large = in_layout("nk", layer(4096, 4096, 0.8, 4, dtype));
    EXPECT_EQ(choose_schedule(large, h200).source,
              "by rule: layers of this size and share of zeros are streamed; not measured for " + dtype);
    const std::vector<ScheduleChoice> ranking =
        ranked_schedules(large, databases_for(large, h200, {&shipped_databases()}));
    EXPECT_EQ(family(ranking[3].schedule), "stream");
    EXPECT_THAT(ranking[4].source, StartsWith("database: one NVIDIA H200"));
    const LayerShape sparse = in_layout("nk", layer(512, 512, 0.95, 8, dtype));
    const LayerShape single = in_layout("nk", layer(512, 512, 0.95, 8, "f32"));
    EXPECT_EQ(choose_schedule(sparse, h200).schedule, choose_schedule(single, h200).schedule);
    EXPECT_EQ(choose_schedule(sparse, h200).database->dtype, "f32");
  }
}

TEST(StreamedSchedules, OfLargeLayersAndManyColumnsCopyInBulkAsMeasured) {
  const DeviceKey h200 = device_of_gpu("h200").key;
  for (const std::int64_t size : {4096, 8192}) {
    EXPECT_THAT(print(choose_schedule(layer(size, size, 0.6, 32), h200).schedule), testing::HasSubstr("copy=tma, "))
        << size;
    EXPECT_EQ(family(choose_schedule(layer(size, size, 0.6, 40), h200).schedule), "bitmap") << size;
  }
  for (const long long bcol : {32, 40, 64}) {
    EXPECT_THAT(print(choose_schedule(layer(512, 512, 0.7, bcol), h200).schedule),
                testing::Not(testing::HasSubstr("copy=tma, ")))
        << bcol;
  }
}

bool has_quarters(const ScheduleChoice& choice) {
  const auto* const stream = std::get_if<StreamSchedule>(&choice.schedule);
  return stream != nullptr && stream->quarters;
}

TEST(StreamedSchedules, HaveQuarterStepsInLayersThatAreLargerThanACache) {
  const DeviceKey h200 = device_of_gpu("h200").key;
  for (const LayerShape& shape :
       {layer(8192, 8192, 0.8, 8), layer(8192, 8192, 0.7, 16, "bf16"), layer(11008, 4096, 0.8, 32),
        layer(28672, 8192, 0.9, 32), layer(8192, 8192, 0.8, 12), layer(4096, 14336, 0.8, 16),
        layer(5120, 13824, 0.8, 8), layer(8192, 8192, 0.8, 1), layer(8192, 8192, 0.9, 4)}) {
    const ScheduleChoice choice = choose_schedule(shape, h200);
    EXPECT_TRUE(has_quarters(choice)) << print({"h200", shape});
    EXPECT_THAT(choice.source, HasSubstr("measured on one NVIDIA H200")) << print({"h200", shape});
  }
}

/// Boxes of a B with other columns have rows, which lanes copy faster.
TEST(StreamedSchedules, CopyUnitsAloneWhereBHasOtherColumns) {
  for (const LayerShape& shape : {layer(8192, 8192, 0.8, 12), layer(4096, 14336, 0.8, 12)}) {
    const ScheduleChoice choice = choose_schedule(shape, device_of_gpu("h200").key);
    EXPECT_EQ(std::get<StreamSchedule>(choice.schedule).copies, StreamSchedule::Copies::units)
        << print({"h200", shape});
  }
}

TEST(StreamedSchedules, HaveNoQuarterStepsWhereTheyDoNotPay) {
  const DeviceKey h200 = device_of_gpu("h200").key;
  for (const LayerShape& shape : {layer(8192, 8192, 0.6, 8), layer(4096, 4096, 0.8, 8), layer(2048, 2048, 0.9, 8),
                                  layer(8192, 8192, 0.8, 32, "f32")}) {
    EXPECT_TRUE(
        std::ranges::none_of(ranked_schedules(shape, databases_for(shape, h200, {&shipped_databases()})), has_quarters))
        << shape.rows << " x " << shape.columns;
  }
}

/// Rows of 8, 16 and 32 columns share lines of 128 bytes where B has no other columns and whole lines.
TEST(StreamedSchedules, HaveLinesInBoxesWhereBHasTheColumnsOfABlock) {
  EXPECT_EQ(line_rows_of_boxes(8, 4096, 8), 8);
  EXPECT_EQ(line_rows_of_boxes(16, 4096, 16), 4);
  EXPECT_EQ(line_rows_of_boxes(32, 4096, 32), 2);
  EXPECT_EQ(line_rows_of_boxes(64, 4096, 64), 1);
  EXPECT_EQ(line_rows_of_boxes(16, 4096, 32), 1);
  EXPECT_EQ(line_rows_of_boxes(16, 4096, 12), 1);
  EXPECT_EQ(line_rows_of_boxes(8, 4096, 4), 1);
  EXPECT_EQ(line_rows_of_boxes(8, 4100, 8), 1);
  EXPECT_EQ(line_rows_of_boxes(16, 4098, 16), 1);
  EXPECT_EQ(line_rows_of_boxes(32, 4098, 32), 2);
}

/// In 16 bits values are listed where half of them are not zero and columns are few, by one block for each
/// multiprocessor of a device whose memory is slow.
TEST(StreamedSchedules, ListTheValuesOfHalfFullLayersThatFillTheDeviceOnce) {
  const KernelTarget h100 = target_of("h100");
  for (const LayerShape& shape : {layer(8192, 8192, 0.5, 1), layer(8192, 8192, 0.5, 16, "bf16"),
                                  layer(11008, 4096, 0.5, 8), layer(4096, 14336, 0.5, 8), layer(28672, 8192, 0.5, 8)}) {
    const std::vector<ScheduleChoice> choices = listed_streams(shape, h100);
    ASSERT_FALSE(choices.empty()) << print({"h100", shape});
    EXPECT_EQ(std::get<StreamSchedule>(choices.front().schedule).dense, StreamSchedule::Dense::listed);
    test::expect_even_panels(shape, choices.front().schedule);
    EXPECT_EQ(choose_schedule(shape, device_of_gpu("h100").key).schedule, choices.front().schedule)
        << print({"h100", shape});
  }
  for (const LayerShape& shape : {layer(8192, 8192, 0.6, 8), layer(8192, 8192, 0.5, 32), layer(16384, 4096, 0.5, 8),
                                  layer(65536, 1024, 0.5, 8), layer(1024, 65536, 0.5, 8), layer(4096, 4096, 0.5, 8),
                                  layer(8192, 8192, 0.5, 8, "f32"), in_layout("nk", layer(8192, 8192, 0.5, 8))}) {
    EXPECT_THAT(listed_streams(shape, h100), IsEmpty()) << shape.rows << " x " << shape.columns;
  }
  EXPECT_THAT(listed_streams(layer(8192, 8192, 0.5, 8), target_of("a100")), IsEmpty());
  EXPECT_THAT(listed_streams(layer(8192, 8192, 0.5, 8), target_of("h200")), IsEmpty());
}

/// With one column kernels that skip zeros are faster from fewer zeros on.
TEST(StreamedSchedules, AreNotTakenForOneColumnOfManyZeros) {
  EXPECT_FALSE(std::holds_alternative<StreamSchedule>(
      choose_schedule(layer(8192, 8192, 0.9, 1), device_of_gpu("h200").key).schedule));
}

/// Layouts and numbers of columns for which quarter steps were not measured have them in what is known otherwise.
TEST(StreamedSchedules, HaveQuarterStepsInWhateverStreamsALayerThatIsLargerThanACache) {
  const DeviceKey h200 = device_of_gpu("h200").key;
  const ScheduleChoice tokens = choose_schedule(in_layout("nk", layer(8192, 8192, 0.8, 8)), h200);
  EXPECT_TRUE(has_quarters(tokens));
  EXPECT_THAT(tokens.source, testing::EndsWith("with quarter steps by rule, as the layer is larger than a cache"));
  EXPECT_TRUE(has_quarters(choose_schedule(layer(8192, 8192, 0.8, 64), h200)));
  const ScheduleChoice few_rows = choose_schedule(layer(1024, 65536, 0.8, 8), h200);
  EXPECT_TRUE(has_quarters(few_rows));
  EXPECT_THAT(few_rows.source, testing::HasSubstr("database"));
}

/// A database whose measurements had them in it is asked in place of the rule.
TEST(StreamedSchedules, HaveQuarterStepsAsADatabaseSaysThatKnowsThem) {
  const std::string text =
      "device sm90-132sm-60mib Mine\ndtype f16\nevidence measured\ncandidate 8 0 "
      "stream:columns=8,panels=3,warps=2,stages=3\n"
      "candidate 8 1 stream:columns=8,panels=3,warps=2,stages=3,quarters=on\nclass 8 26 26 21 21 1 1.2 - 0.0 20.0\n";
  const std::vector<ScheduleDatabase> mine = databases_in(text, "mine.txt");
  const LayerShape shape = layer(8192, 8192, 0.8, 8);
  EXPECT_EQ(print(ranked_schedules(shape, databases_for(shape, device_of_gpu("h200").key, {&mine})).front().schedule),
            "stream: tile=48x256x8, warps=6, stages=3, copy=cp_async, pdl=on");
}

/// What was measured in either type of 16 bits comes in place of the rule.
TEST(StreamedSchedules, GiveWayToADatabase) {
  const std::string text =
      "device sm90-132sm-60mib Mine\ndtype f16\nevidence measured\ncandidate 8 0 "
      "stream:columns=8,panels=3,warps=2,stages=3\n"
      "candidate 8 1 panel:ufi=4,columns=8,panels=4\nclass 8 24 24 21 21 1 1.2 - 0.0 200.0\n";
  const std::vector<ScheduleDatabase> mine = databases_in(text, "mine.txt");
  const DeviceKey h200 = device_of_gpu("h200").key;
  for (const std::string dtype : {"f16", "bf16"}) {
    const LayerShape large = layer(4096, 4096, 0.7, 8, dtype);
    const auto found = databases_for(large, h200, {&mine, &shipped_databases()});
    ASSERT_EQ(found.front(), &mine.front());
    const std::vector<ScheduleChoice> ranking = ranked_schedules(large, found, target_of("h200"));
    EXPECT_EQ(print(ranking.front().schedule), "stream: tile=48x256x8, warps=6, stages=3, copy=cp_async, pdl=on");
    EXPECT_THAT(ranking.front().source, HasSubstr("one Mine"));
    EXPECT_EQ(ranking.front().database->dtype, "f16");
    EXPECT_EQ(family(ranked_schedules(large, found, target_of("t4")).front().schedule), "panel")
        << "which has no sparse tensor cores";
  }
  const LayerShape single = layer(4096, 4096, 0.7, 8, "f32");
  EXPECT_EQ(databases_for(single, h200, {&mine, &shipped_databases()}).front(), &shipped_database())
      << "never the other way round";
  const LayerShape strange = in_layout("n_k_n_n.n_m_n_n", layer(4096, 4096, 0.7, 8));
  for (const ScheduleChoice& choice : ranked_schedules(strange, databases_for(strange, h200, {&mine}))) {
    EXPECT_NE(family(choice.schedule), "stream") << "which would take its elements one by one";
  }
}

}  // namespace
}  // namespace esc
