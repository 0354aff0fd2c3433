// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/emit/device_text.h"
#include "generator/emit/generate.h"
#include "generator/emit/launch_plan.h"
#include "generator/emit/sources.h"
#include "generator/matrix/sample.h"

namespace esc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

GenerateOptions options_of(const std::string& schedule, std::int64_t bcol = 64) {
  return {.name = "ffn1",
          .source_file = "ffn1.npy",
          .bcol = bcol,
          .architectures = {80, 90},
          .choice = {parse_schedule(schedule), "user"}};
}

GeneratedLayer layer_of(const SparseMatrix& matrix, const std::string& schedule, std::int64_t bcol = 64) {
  return generate_layer(matrix, spmm_nest(), options_of(schedule, bcol));
}

/// 3 x 9: rows of 9, 0 and 2 non-zeros.
const SparseMatrix uneven{3, 9, {0, 9, 9, 11}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}};

TEST(RowsLaunchPlan, SetsSplitRowsToZeroFirst) {
  // Tasks of 4, 4, 1 and of 0 and 2 non-zeros: three are heavy, in two blocks; the others share one.
  const LaunchPlan plan = launch_plan(layer_of(uneven, "rows:columns=32,vector=4,task=4,light=1,warps=2", 72).layer);
  EXPECT_EQ(plan.kernel, "ffn1_kernel<true, true>");
  EXPECT_EQ(plan.grid_x, 2U + 1);
  EXPECT_EQ(plan.grid_y, 3U);
  EXPECT_EQ(plan.threads, 64U);
  EXPECT_TRUE(plan.programmatic);
  EXPECT_FALSE(plan.zeroes_c);
  EXPECT_THAT(plan.sizes, ElementsAre(3, 5));
  ASSERT_TRUE(plan.zeroing.has_value());
  EXPECT_EQ(plan.zeroing->kernel, "ffn1_zero_rows");
  EXPECT_EQ(plan.zeroing->grid_x, 1U);
  EXPECT_EQ(plan.zeroing->threads, 128U);
  EXPECT_THAT(plan.zeroing->sizes, ElementsAre(1));
}

TEST(RowsLaunchPlan, HasEnoughBlocksForAllSplitRows) {
  // A warp has a row, and a block four of them, whatever bCol is.
  const auto blocks = [](std::int64_t rows, const std::string& schedule, std::int64_t bcol) {
    const SparseMatrix full = sample_matrix({.rows = rows, .columns = 4, .sparsity = 0.0});
    return launch_plan(layer_of(full, schedule, bcol).layer).zeroing->grid_x;
  };
  EXPECT_EQ(blocks(17, "rows:task=2,light=1", 128), 5U);
  EXPECT_EQ(blocks(17, "rows:task=2,light=1", 60), 5U);
  EXPECT_EQ(blocks(17, "rows:columns=4,task=2,light=1", 8), 5U);
  EXPECT_EQ(blocks(16, "rows:task=2,light=1", 128), 4U);
  EXPECT_EQ(blocks(1, "rows:task=2,light=1", 128), 1U);
}

TEST(RowsLaunchPlan, LeavesOutTheFirstKernelWhereNoRowIsSplit) {
  EXPECT_EQ(launch_plan(layer_of(uneven, "rows:task=16").layer).zeroing, std::nullopt);
}

/// The words of the refusal; empty where the layer is generated and planned.
std::string refusal(const SparseMatrix& matrix, const std::string& schedule) {
  try {
    layer_of(matrix, schedule);
    return "";
  } catch (const UnsuitableSchedule& refused) {
    EXPECT_THROW(planned_bytes(matrix, spmm_nest(), options_of(schedule)), UnsuitableSchedule);
    return refused.what();
  }
}

TEST(RowsLayer, IsRefusedWhereARowIsTheSumOfTooManyTasks) {
  const auto full_rows = [](std::int64_t columns) {
    return sample_matrix({.rows = 2, .columns = columns, .sparsity = 0.0});
  };
  EXPECT_THAT(
      refusal(full_rows(4608), "rows:task=1,light=1"),
      HasSubstr(
          "a row of 4608 non-zeros is the float32 sum of 4608 tasks, more than 1024; cut the rows into tasks of 8 "
          "non-zeros at least"));
  EXPECT_THAT(refusal(full_rows(1025), "rows:task=1,light=1"), HasSubstr("1025 tasks, more than 1024"));
  EXPECT_THAT(refusal(full_rows(4097), "rows:task=4,light=1"), HasSubstr("1025 tasks, more than 1024"));
  EXPECT_EQ(refusal(full_rows(1024), "rows:task=1,light=1"), "");
  EXPECT_EQ(refusal(full_rows(4096), "rows:task=4,light=1"), "");
  EXPECT_EQ(refusal(full_rows(20000), "rows:task=8,light=1"), "") << "the tolerance grows with the length of the row";
}

TEST(RowsDeviceSource, HasTheAddressesOfTheFormat) {
  const Layer layer = layer_of(uneven, "rows:task=4,light=1").layer;
  const auto& format = std::get<transformer::TaskFormat>(layer.format);
  const std::string text = device_text(layer);
  EXPECT_THAT(text, HasSubstr(fmt::format("constexpr size_t split_rows_at = {};", format.split_rows_at)));
  EXPECT_THAT(text, HasSubstr(fmt::format("constexpr size_t pairs_at = {};", format.pairs_at)));
  EXPECT_THAT(text, Not(HasSubstr("#include")));
}

TEST(RowsHeader, SaysWhatCallersMustKnow) {
  const std::string split = header_source(layer_of(uneven, "rows:task=8,light=1").layer);
  EXPECT_THAT(split, HasSubstr("B must be finite"));
  EXPECT_THAT(split, HasSubstr("more than 8 non-zeros are added up in an"));
  EXPECT_THAT(split, HasSubstr("programmatic dependent launch"));
  const std::string whole = header_source(layer_of(uneven, "rows:task=16,pdl=off").layer);
  EXPECT_THAT(whole, Not(HasSubstr("added up")));
  EXPECT_THAT(whole, Not(HasSubstr("programmatic")));
}

TEST(RowsManifest, DescribesThePackedMatrix) {
  const std::string text = manifest_json(layer_of(uneven, "rows:task=4,light=1").layer, std::nullopt, std::nullopt);
  for (const char* words : {"\"family\": \"rows\"", "\"longest\": 4", "\"light\": 1", "\"tasks\": 5", "\"heavy\": 3",
                            "\"split_rows\": 1", "\"block_light\": 16"}) {
    EXPECT_THAT(text, HasSubstr(words));
  }
}

}  // namespace
}  // namespace esc
