// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/layer_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>

#include "tests/support/unwrapped.h"
#include "tests/unit/tuner/report_records.h"
#include "tuner/report/binding_limit.h"

namespace esc::tuning {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using tests::unwrapped;

TEST(BindingLimit, IsTheLargestPart) {
  EXPECT_EQ(binding_limit({}), "the launch floor");
  EXPECT_EQ(binding_limit({.launch = 1.2, .waiting = 1, .loads = 2, .arithmetic = 1}), "the load/store unit");
  EXPECT_EQ(binding_limit({.launch = 1.2, .traffic = 3, .arithmetic = 3}), "the bandwidth of the L2 cache");
  const Table table = cost_table({.launch = 1.2, .traffic = 3, .microseconds = 4});
  EXPECT_EQ(table.rows[2], (std::vector<std::string>{"the bandwidth of the L2 cache", "3.00"}));
  EXPECT_EQ(table.rows.back(), (std::vector<std::string>{"predicted whole", "4.00"}));
}

TEST(LayerAnswer, SaysWhatIsFasterAndByHowMuch) {
  const auto items = group_by_item(two_layers());
  const std::string even = layer_answer(items.begin()->second);
  for (const char* part :
       {"layer      even.smtx@32: 512 x 512, 26214 non-zeros (90.0 % zeros), N = 32; sm90-132sm-60mib, f32, L2 warm\n",
        "winner     2.00 us, 1.00 us in launches that overlap; beside the schedule that held before it is BETTER\n",
        "speed      2.00 x as fast as cuBLAS FP32, the fastest exact library; measured with this layer\n",
        "speed      1.50 x as fast as cuBLAS TF32, which is less exact; measured with this layer\n",
        "schedule   panel:"}) {
    EXPECT_THAT(unwrapped(even), HasSubstr(unwrapped(part)));
  }
  const std::string odd = layer_answer(std::next(items.begin())->second);
  EXPECT_THAT(odd,
              HasSubstr("speed      cuSPARSE, the fastest exact library, is 2.00 x as fast: use it for this layer\n"
                        "speed      cuBLAS TF32, which is less exact, is 2.00 x as fast\n"));
}

TEST(LayerTables, SayHowItWasFound) {
  const std::string even = layer_tables(group_by_item(two_layers()).begin()->second);
  for (const char* part : {"cublas-tf32", "| packed A | 200000 |", "| B        |  65536 |", "| predicted whole ",
                           "What binds by this model: "}) {
    EXPECT_THAT(even, HasSubstr(part));
  }
}

TEST(LayerTables, ShowTenCandidates) {
  std::vector<Record> records;
  for (int threads = 1; threads <= 12; ++threads) {
    records.emplace_back(timed(item_of_layer("a.smtx"), "atomic:" + std::to_string(threads), threads));
  }
  const std::string text = layer_tables(group_by_item(records).begin()->second);
  EXPECT_THAT(text, HasSubstr("| atomic:10 "));
  EXPECT_THAT(text, Not(HasSubstr("| atomic:11 ")));
  EXPECT_THAT(text, Not(HasSubstr("What binds"))) << "the model does not know these schedules";
  EXPECT_THAT(layer_answer(group_by_item(records).begin()->second), HasSubstr("not compared with an exact library"));
}

TEST(LayerAnswer, HoldsWithoutARightCandidate) {
  const WorkItem item = item_of_layer("a.smtx");
  const auto failure = failed(item, narrow_panel, Outcome::launch_failed, "why");
  EXPECT_THAT(layer_answer(group_by_item({failure}).begin()->second), HasSubstr("no candidate was right\n"));
  EXPECT_THAT(layer_answer(group_by_item({failure, timed(item, "cusparse", 3)}).begin()->second),
              HasSubstr("no candidate was right: use cuSPARSE, 3.00 us\n"));
  EXPECT_THAT(layer_answer(ItemResults{}), HasSubstr("no candidate was right"));
}

}  // namespace
}  // namespace esc::tuning
