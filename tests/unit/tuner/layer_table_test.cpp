// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/layer_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>

#include "tests/unit/tuner/report_records.h"
#include "tuner/report/binding_limit.h"

namespace esc::tuning {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(BindingLimit, IsTheLargestPart) {
  EXPECT_EQ(binding_limit({}), "the launch floor");
  EXPECT_EQ(binding_limit({.launch = 1.2, .waiting = 1, .loads = 2, .arithmetic = 1}), "the load/store unit");
  EXPECT_EQ(binding_limit({.launch = 1.2, .traffic = 3, .arithmetic = 3}), "the bandwidth of the L2 cache");
  const Table table = cost_table({.launch = 1.2, .traffic = 3, .microseconds = 4});
  EXPECT_EQ(table.rows[2], (std::vector<std::string>{"the bandwidth of the L2 cache", "3.00"}));
  EXPECT_EQ(table.rows.back(), (std::vector<std::string>{"predicted whole", "4.00"}));
}

TEST(LayerTable, SaysEverythingOfALayer) {
  const auto items = group_by_item(two_layers());
  const std::string even = layer_table(items.begin()->second);
  for (const char* part :
       {"### even.smtx@32\n", "512 x 512, 26214 non-zeros, 90.0 % zeros, bCol 32; sm90-132sm-60mib, f32, L2 warm",
        "cublas-tf32", "| packed A | 200000 |", "| B        |  65536 |", "| predicted whole ",
        "What binds by this model: ",
        "2.00 us, 1.00 us in a chain. The best challenger against what held before: BETTER.\n"
        "It is 2.00 x as fast as cuBLAS FP32, the fastest exact library.\n"
        "It is 1.50 x as fast as cuBLAS TF32, which is less exact.\n"}) {
    EXPECT_THAT(even, HasSubstr(part));
  }
  const std::string odd = layer_table(std::next(items.begin())->second);
  EXPECT_THAT(odd, HasSubstr("cuSPARSE, the fastest exact library, is 2.00 x as fast: use it for this layer.\n"
                             "cuBLAS TF32, which is less exact, is 2.00 x as fast.\n"));
}

TEST(LayerTable, ShowsTenCandidates) {
  std::vector<Record> records;
  for (int threads = 1; threads <= 12; ++threads) {
    records.emplace_back(timed(item_of_layer("a.smtx"), "atomic:" + std::to_string(threads), threads));
  }
  const std::string text = layer_table(group_by_item(records).begin()->second);
  EXPECT_THAT(text, HasSubstr("| atomic:10 "));
  EXPECT_THAT(text, Not(HasSubstr("| atomic:11 ")));
  EXPECT_THAT(text, HasSubstr("It was not compared with an exact library."));
  EXPECT_THAT(text, Not(HasSubstr("What binds"))) << "the model does not know these schedules";
}

TEST(LayerTable, HoldsWithoutARightCandidate) {
  const WorkItem item = item_of_layer("a.smtx");
  const auto failure = failed(item, narrow_panel, Outcome::launch_failed, "why");
  EXPECT_THAT(layer_table(group_by_item({failure}).begin()->second), HasSubstr("No candidate was right.\n"));
  EXPECT_THAT(layer_table(group_by_item({failure, timed(item, "cusparse", 3)}).begin()->second),
              HasSubstr("No candidate was right: use cuSPARSE, 3.00 us.\n"));
  EXPECT_THAT(layer_table(ItemResults{}), HasSubstr("No candidate was right."));
}

}  // namespace
}  // namespace esc::tuning
