#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "generator/support/process.h"
#include "generator/verify/nvcc.h"
#include "tests/support/awkward_shapes.h"
#include "tests/support/emulated_layer.h"

namespace esc {
namespace {

using tests::full_sweep;
using tests::kernel_text;
using tests::layer_of;

/// The oldest and the newest architecture that the kernels are made for, and the one that they are tuned on.
std::vector<int> architectures() {
  std::istringstream targets(run_process({find_nvcc().string(), "--list-gpu-arch"}).output);
  const std::string prefix = "compute_";
  int newest = 90;
  for (std::string target; targets >> target;) {
    if (target.starts_with(prefix)) {
      newest = std::max(newest, std::stoi(target.substr(prefix.size())));
    }
  }
  return {80, 90, newest};
}

/// Two panels of 8 rows whose columns have 1, 2, .. 8 non-zeros: a panel has a pattern for each number of rows, and few
/// others whatever its height.
SparseMatrix staircase() {
  SparseMatrix matrix{16, 64, {0}, {}, {}};
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    for (std::int32_t column = 0; column < matrix.columns; ++column) {
      if (row % 8 <= column % 8) {
        matrix.column_of.push_back(column);
        matrix.values.push_back(1.0F);
      }
    }
    matrix.offsets.push_back(matrix.nonzeros());
  }
  return matrix;
}

class NvccSweep : public testing::TestWithParam<AtomicSchedule> {};

TEST_P(NvccSweep, CompilesWithoutWarningsAndSpills) {
  if (find_nvcc().empty()) {
    GTEST_SKIP() << "nvcc is neither on the PATH nor in /usr/local/cuda/bin";
  }
  // With 257 columns a thread may stand beyond the last one, with 128 it does not.
  const std::int64_t bcol = GetParam().threads <= 128 ? 128 : 257;
  const std::string text = kernel_text(layer_of(staircase(), bcol, GetParam()));
  const std::vector<int> targets = architectures();
  const std::vector<KernelResources> kernels = kernel_resources(text, "layer", targets);
  EXPECT_EQ(kernels.size(), 2 * targets.size()) << "the tuned kernel and the other, on each architecture";
  for (const KernelResources& kernel : kernels) {
    EXPECT_EQ(kernel.spill_bytes, 0) << kernel.kernel << " on sm_" << kernel.architecture;
    std::cout << fmt::format("{:<44} {:<20} sm_{:<3} {:>3} registers, {} bytes spilled\n", print(Schedule(GetParam())),
                             kernel.kernel, kernel.architecture, kernel.registers, kernel.spill_bytes);
  }
}

/// The corners of the schedule space; an ordinary run takes some in which each value comes up, the largest kernels
/// included.
std::vector<AtomicSchedule> corners() {
  const std::vector<AtomicSchedule> ordinary{{8, 16, 4, 256, true},  {8, 16, 4, 32, false}, {4, 1, 1, 32, true},
                                             {4, 16, 1, 256, false}, {1, 16, 4, 32, true},  {1, 1, 1, 256, false}};
  if (!full_sweep()) {
    return ordinary;
  }
  std::vector<AtomicSchedule> all;
  for (const int ufi : {1, 4, 8}) {
    for (const int ufk : {1, 16}) {
      for (const int warptile : {1, 4}) {
        for (const int threads : {32, 256}) {
          all.push_back({ufi, ufk, warptile, threads, true});
          all.push_back({ufi, ufk, warptile, threads, false});
        }
      }
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Corners, NvccSweep, testing::ValuesIn(corners()),
                         [](const testing::TestParamInfo<AtomicSchedule>& corner) {
                           const AtomicSchedule& schedule = corner.param;
                           return fmt::format("{}_{}_{}_{}_{}", schedule.ufi, schedule.ufk, schedule.warptile,
                                              schedule.threads,
                                              schedule.compaction ? "body_per_count" : "body_per_pattern");
                         });

}  // namespace
}  // namespace esc
