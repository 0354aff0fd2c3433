// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "generator/support/process.h"
#include "generator/verify/nvcc.h"
#include "tests/support/emulated_layer.h"
#include "tests/support/run_size.h"

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

/// Two row tiles of 8 rows whose columns have 1, 2, .. 8 non-zeros: a row tile has a pattern for each number of rows,
/// and few others whatever its height.
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

/// A schedule with a bCol for which it is legal and leaves lanes beyond the last column where it can.
struct Corner {
  Schedule schedule;
  std::int64_t bcol = 128;
};

/// Instances of the kernel of a bundle, and for family rows the one that sets rows to zero.
std::size_t kernels_of(const Schedule& schedule) {
  return std::holds_alternative<AtomicSchedule>(schedule) ? 2 : std::holds_alternative<PanelSchedule>(schedule) ? 3 : 4;
}

Corner corner(const AtomicSchedule& schedule) { return {schedule, schedule.threads <= 128 ? 128 : 257}; }
Corner corner(const PanelSchedule& schedule) { return {schedule, schedule.vector == 1 ? 257 : 100}; }
Corner corner(const RowsSchedule& schedule) { return {schedule, schedule.vector == 1 ? 257 : 100}; }

/// The corners of the schedule spaces; an ordinary run takes some in which each value comes up, the largest kernels
/// included.
std::vector<Corner> corners() {
  std::vector<Corner> chosen{corner(AtomicSchedule{8, 16, 4, 256, true}),
                             corner(AtomicSchedule{8, 16, 4, 32, false}),
                             corner(AtomicSchedule{4, 1, 1, 32, true}),
                             corner(AtomicSchedule{4, 16, 1, 256, false}),
                             corner(AtomicSchedule{1, 16, 4, 32, true}),
                             corner(AtomicSchedule{1, 1, 1, 256, false}),
                             corner(PanelSchedule{4, 32, 4, 4, 16, 1, 4, false, true}),
                             corner(PanelSchedule{8, 128, 4, 1, 2, 2, 4, true, false}),
                             corner(PanelSchedule{1, 1, 1, 32, 1, 16, 4, false, true}),
                             corner(PanelSchedule{2, 64, 4, 2, 8, 2, 4, true, true}),
                             corner(RowsSchedule{32, 4, 4, 128, 16, 4, true}),
                             corner(RowsSchedule{128, 4, 8, 1, 1, 16, false}),
                             corner(RowsSchedule{1, 1, 8, 32, 8, 16, true})};
  if (!full_sweep()) {
    return chosen;
  }
  chosen.clear();
  for (const int ufi : {1, 4, 8}) {
    for (const int ufk : {1, 16}) {
      for (const int warptile : {1, 4}) {
        for (const int threads : {32, 256}) {
          chosen.push_back(corner(AtomicSchedule{ufi, ufk, warptile, threads, true}));
          chosen.push_back(corner(AtomicSchedule{ufi, ufk, warptile, threads, false}));
        }
      }
    }
  }
  for (const int ufi : {1, 4, 8}) {
    for (const int vector : {1, 4}) {
      for (const int columns : {4, 32, 128}) {
        const int lanes = columns / vector;
        for (const int warps : {1, 16}) {
          for (const int ufk : {4, 8}) {
            for (const bool stage : {false, true}) {
              const PanelSchedule schedule{ufi, columns, vector, lanes > 32 ? 1 : 32 / lanes, warps, 1,
                                           ufk, stage,   true};
              if (lanes <= 32 && ufi * ufk <= (stage ? 32 : 16) && schedule.sum_bytes() <= 48 * 1024) {
                chosen.push_back(corner(schedule));
              }
            }
          }
        }
      }
    }
  }
  for (const int vector : {1, 2, 4}) {
    for (const int columns : {4, 32, 128}) {
      for (const int unroll : {1, 8}) {
        for (const int warps : {1, 16}) {
          if (columns / vector <= 32) {
            chosen.push_back(corner(RowsSchedule{columns, vector, unroll, 16, 4, warps, true}));
          }
        }
      }
    }
  }
  return chosen;
}

/// One of the parts of the corners, to be run beside each other.
class NvccSweep : public testing::TestWithParam<std::size_t> {};
constexpr std::size_t parts = 4;

/// A whole run takes all architectures for each corner; else they take turns.
TEST_P(NvccSweep, CompilesWithoutWarningsAndSpills) {
  if (find_nvcc().empty()) {
    GTEST_SKIP() << "nvcc is neither on the PATH nor in /usr/local/cuda/bin";
  }
  const std::vector<int> all_targets = architectures();
  const std::vector<Corner> all = corners();
  for (std::size_t index = GetParam(); index < all.size(); index += parts) {
    const auto& [schedule, bcol] = all[index];
    SCOPED_TRACE(print(schedule));
    const std::vector<int> targets = full_sweep() ? all_targets : std::vector{all_targets[index % all_targets.size()]};
    const std::vector<KernelResources> kernels =
        kernel_resources(kernel_text(layer_of(staircase(), bcol, schedule)), "layer", targets);
    EXPECT_EQ(kernels.size(), kernels_of(schedule) * targets.size()) << "the tuned kernel and the others";
    for (const KernelResources& kernel : kernels) {
      EXPECT_EQ(kernel.spill_bytes, 0) << kernel.kernel << " on sm_" << kernel.architecture;
      std::cout << fmt::format("{:<90} {:<20} sm_{:<3} {:>3} registers, {} bytes spilled\n", print(schedule),
                               kernel.kernel, kernel.architecture, kernel.registers, kernel.spill_bytes);
    }
  }
}

[[maybe_unused]] const bool nvcc_sweep_is_sampled = tests::sample_suite("EveryPart/NvccSweep", 2);

INSTANTIATE_TEST_SUITE_P(EveryPart, NvccSweep, testing::Range(std::size_t{0}, parts),
                         [](const testing::TestParamInfo<std::size_t>& part) { return fmt::format("{}", part.param); });

}  // namespace
}  // namespace esc
