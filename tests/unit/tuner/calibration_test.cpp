// SPDX-License-Identifier: Apache-2.0
// What a GPU is calibrated by, and what is written of it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>

#include "generator/matrix/fingerprint.h"
#include "tuner/run/calibrated_device.h"
#include "tuner/run/calibration_layers.h"

namespace esc::tuning {
namespace {

TEST(Calibration, HasLayersOfAllTypesInBothLayouts) {
  const RunRequest request = calibration_request();
  std::set<std::tuple<std::string, std::string>> kinds;
  std::size_t kernels = 0;
  for (const ItemRequest& asked : request.items) {
    const WorkItem item = item_for(request, asked, {89, 128, 72ULL << 20U});
    kinds.insert({item.dtype, item.nest.layout});
    EXPECT_EQ(item.cache, usual_cache(item.dtype));
    const std::vector<Schedule> schedules = request.candidates(item);
    std::set<std::size_t> families;
    for (const Schedule& schedule : schedules) {
      EXPECT_TRUE(families.insert(schedule.index()).second) << print(schedule);
      EXPECT_NO_THROW(check_legal(schedule, item.product())) << print(schedule);
    }
    EXPECT_GE(schedules.size(), 2U) << describe(item);
    EXPECT_EQ(request.incumbent(item), schedules.front());
    kernels += schedules.size();
  }
  EXPECT_EQ(kinds.size(), 6U);
  EXPECT_GE(kernels, 45U);
  EXPECT_LE(kernels, 75U);
}

TEST(Calibration, HasTheSameMatricesEverywhere) {
  const SparseMatrix matrix = calibration_matrix("calibration_512x512_z70", ScalarType::f32);
  EXPECT_EQ(matrix.rows, 512);
  EXPECT_EQ(matrix.columns, 512);
  EXPECT_NEAR(matrix.sparsity(), 0.7, 0.001);
  EXPECT_EQ(fingerprint(matrix).pattern, calibration_items().front().layer.pattern);
}

TEST(CalibratedDevice, HasTheNameOfTheProgramOrOfTheProduct) {
  EXPECT_EQ(gpu_name({90, 132, 60ULL << 20U}, "NVIDIA H200"), "h200");
  EXPECT_EQ(gpu_name({80, 64, 20ULL << 20U}, "NVIDIA H100 PCIe"), "h100-pcie");
  EXPECT_EQ(gpu_name({80, 14, 5ULL << 20U}, "NVIDIA A100-SXM4-40GB MIG 1g.5gb"), "a100-sxm4-40gb-mig-1g-5gb");
  EXPECT_EQ(gpu_name({80, 14, 5ULL << 20U}, "(?)"), "gpu");
}

TEST(CalibratedDevice, HasWhatWasMeasured) {
  const RatesRecord record{{"0.1.0", "13.0", "NVIDIA L4", "13.0"}, {89, 58, 48ULL << 20U}, {.memory_gigabytes = 270}};
  const Device device = calibrated_device("l4-lab", record);
  EXPECT_EQ(device.product, "L4");
  EXPECT_TRUE(device.memory_gigabytes->measured);
  EXPECT_EQ(device.f16_gigaflops, std::nullopt);
  EXPECT_EQ(parse_device(print(device), "l4-lab.txt"), device);
}

}  // namespace
}  // namespace esc::tuning
