// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "generator/schedule/schedule.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/temporary_folder.h"
#include "tests/bench/report_ablation.h"
#include "tests/bench/report_sweep.h"

namespace esc::bench {
namespace {

using testing::HasSubstr;

const std::string narrow = print(parse_schedule("panel:ufi=1,warps=4"));
const std::string wide = print(parse_schedule("panel:ufi=2,warps=8"));

/// A pair of a 512 x 512 matrix with a tenth of non-zeros, and the times of the two schedules.
MeasuredPair pair(const std::string& matrix, double narrow_us, double wide_us, std::int64_t rows = 512) {
  MeasuredPair measured;
  measured.result.matrix = matrix;
  measured.result.rows = rows;
  measured.result.columns = 512;
  measured.result.nonzeros = rows * 512 / 10;
  measured.result.bcol = 32;
  measured.candidates[narrow] = {narrow_us, narrow_us};
  measured.candidates[wide] = {wide_us, wide_us};
  return measured;
}

std::map<PairKey, MeasuredPair> pairs(const std::vector<MeasuredPair>& list) {
  std::map<PairKey, MeasuredPair> result;
  for (const MeasuredPair& one : list) {
    result[{one.result.matrix, one.result.bcol}] = one;
  }
  return result;
}

TEST(Ablation, TakesMatricesThatHaveAllSteps) {
  MeasuredPair whole = pair("a", 1.0, 1.0);
  double time = 16;
  for (const AblationStep& step : ablation_steps()) {
    whole.candidates[step.schedule] = {time, std::nullopt};
    time /= 2;
  }
  whole.result.plain = BestTime{.name = wide, .microseconds = 0.5};
  whole.result.programmatic = BestTime{.name = wide, .microseconds = 0.25};
  whole.result.peers["cublas-fp32"] = {true, {.name = "a", .microseconds = 1.0}};
  const Ablation result = ablation(pairs({whole, pair("without", 1.0, 1.0)}));
  ASSERT_EQ(result.by_bcol.size(), 1U);
  EXPECT_EQ(result.by_bcol.at(32).matrices, 1);
  EXPECT_DOUBLE_EQ(result.by_bcol.at(32).microseconds.front(), 16);
  EXPECT_DOUBLE_EQ(result.by_bcol.at(32).microseconds.back(), 0.25);
  EXPECT_THAT(print(result), HasSubstr("| + programmatic launch | 0.25 | 64.00 | 4.00 |"));
  EXPECT_THAT(to_svg(chart(result)), HasSubstr("+ enumeration"));
}

TEST(Sweep, OrdersByTheShareOfZeros) {
  MeasuredPair dense = pair("dense", 1, 1);
  dense.result.nonzeros = 512 * 256;
  dense.result.peers["cusparse"] = {true, {.name = "ALG1", .microseconds = 7.5}};
  MeasuredPair sparse = pair("a sparse", 1, 1);
  sparse.result.plain = BestTime{.name = wide, .microseconds = 1.25};
  sparse.result.peers["cublas-fp32"] = {true, {.name = "heuristic 0", .microseconds = 2}};
  sparse.result.peers["sputnik"] = {true, {.name = "swizzled", .microseconds = 3}};
  const LineChart chart = sparsity_sweep(pairs({dense, sparse}), 32);
  EXPECT_EQ(chart.places, (std::vector<std::string>{"50 %", "90 %"}));
  EXPECT_THAT(print(chart), HasSubstr("| ours, programmatic, us | cuBLASLt FP32, us | cuSPARSE, us | sputnik, us |"));
  EXPECT_THAT(print(chart), HasSubstr("| 50 % | - | - | - | 7.50 | - |\n| 90 % | 1.25 | - | 2.00 | - | 3.00 |"));
  EXPECT_TRUE(sparsity_sweep(pairs({dense}), 64).places.empty());
}

TEST(Journal, IsReadWithItsCandidates) {
  const TemporaryFolder folder;
  MeasuredPair measured = pair("a", 1, 1);
  write_file_whole(folder.path() / "a.jsonl",
                   "{\"record\":\"device\"}\n"
                   "{\"record\":\"candidate\",\"matrix\":\"a\",\"bcol\":32,\"schedule\":\"s\",\"plain_us\":2.5,"
                   "\"programmatic_us\":null}\n" +
                       pair_line(measured.result) + "\n");
  const auto read = read_measurements({(folder.path() / "a.jsonl").string()});
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read.at({"a", 32}).candidates.at("s").plain, 2.5);
  EXPECT_FALSE(read.at({"a", 32}).candidates.at("s").programmatic.has_value());
  write_file_whole(folder.path() / "b.jsonl", "{\"record\":\"cand");
  EXPECT_THROW(read_measurements({(folder.path() / "b.jsonl").string()}), UserError);
}

}  // namespace
}  // namespace esc::bench
