#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>
#include <set>
#include <utility>
#include <vector>

#include "tests/support/awkward_shapes.h"
#include "tests/support/emulated_layer.h"

namespace esc {
namespace {

using tests::awkward_shapes;
using tests::EmulatedKernel;
using tests::full_sweep;
using tests::JudgedProduct;
using tests::layer_of;
using tests::NamedMatrix;
using tests::transformer_problem;

constexpr std::array<std::int64_t, 9> bcols{1, 4, 31, 32, 33, 64, 100, 128, 257};

/// Every legal schedule of any bCol is legal for the widest.
std::vector<AtomicSchedule> every_schedule() { return legal_atomic_schedules(bcols.back()); }

/// The part of the sweep that an ordinary run takes: one schedule for each (UFi, UFk), with the other two parameters
/// spread so that all pairs (UFi, WarpTile) and (WarpTile, threads) come up.
bool in_ordinary_run(const AtomicSchedule& schedule) {
  const int ufk = schedule.ufk - 1;
  return schedule.warptile - 1 == (ufk + schedule.ufi) % AtomicSchedule::max_warptile &&
         schedule.threads / 32 - 1 == (ufk / 2 + schedule.ufi) % (AtomicSchedule::max_threads / 32);
}

/// A schedule with the layer that it is tried on.
struct SweepCase {
  AtomicSchedule schedule;
  const NamedMatrix* shape = nullptr;
  std::int64_t bcol = 0;
  ProductCase other;  ///< beside the product that the kernel is made for
};

/// Shapes, bCols and products take turns.
SweepCase sweep_case(const std::vector<NamedMatrix>& shapes, const AtomicSchedule& schedule, std::size_t turn) {
  const std::int64_t least = schedule.threads <= 32 && schedule.warptile == 1
                                 ? 1
                                 : std::max<std::int64_t>(schedule.threads, 32 * schedule.warptile);
  const auto first = std::find_if(bcols.begin(), bcols.end(), [least](std::int64_t bcol) { return bcol >= least; });
  const std::vector<std::int64_t> legal(first, bcols.end());
  const std::size_t round = turn / shapes.size();
  const std::int64_t bcol = legal[turn % legal.size()];
  const std::array<std::int64_t, 4> widths{1, bcol, bcol + 9, std::max<std::int64_t>(1, bcol - 5)};
  const std::int64_t n = widths[(turn + round) % widths.size()];
  const auto shift = static_cast<int>((turn / 4 + round) % 4);
  return {schedule, &shapes[turn % shapes.size()], bcol, {static_cast<std::int32_t>(n), n + 3, n + 5, shift}};
}

/// The schedules of one panel height and one form of the kernel.
struct Slice {
  int ufi = 1;
  bool compaction = true;
};

std::string print(const Slice& slice) {
  return fmt::format("ufi{}_{}", slice.ufi, slice.compaction ? "body_per_count" : "body_per_pattern");
}

void PrintTo(const Slice& slice, std::ostream* stream) { *stream << print(slice); }

/// What a slice of the sweep did.
struct SweepSummary {
  int kernels = 0;
  double seconds = 0;
  double worst_share = 0;  ///< of the tolerance
};

class ScheduleSweep : public testing::TestWithParam<Slice> {
 protected:
  void check(const SweepCase& one) {
    const auto start = std::chrono::steady_clock::now();
    const SparseMatrix& matrix = one.shape->matrix;
    const GeneratedLayer layer = layer_of(matrix, one.bcol, one.schedule);
    const EmulatedKernel kernel(layer);
    const auto n = static_cast<std::int32_t>(one.bcol);
    for (const ProductCase& product : {ProductCase{n, one.bcol, one.bcol, 0}, one.other}) {
      const JudgedProduct judged = kernel.multiply(matrix, product);
      EXPECT_TRUE(judged.passed()) << esc::print(Schedule(one.schedule)) << " on '" << one.shape->name << "', bCol "
                                   << one.bcol << ", " << esc::print(product) << ": " << tests::print(judged);
      summary_.worst_share = std::max(summary_.worst_share, judged.error / judged.tolerance);
    }
    ++summary_.kernels;
    summary_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    // The transformer depends on the matrix and the height of a panel only.
    if (one.schedule.compaction && transformers_.insert(one.shape->name).second) {
      EXPECT_EQ(transformer_problem(layer, matrix), "") << one.shape->name << ", panels of " << one.schedule.ufi;
    }
  }

  SweepSummary summary_;
  std::set<std::string> transformers_;
};

TEST_P(ScheduleSweep, AgreesWithTheReference) {
  const Slice slice = GetParam();
  const std::vector<NamedMatrix> shapes = awkward_shapes();
  // The two forms of a kernel start with different shapes.
  std::size_t turn = static_cast<std::size_t>(slice.ufi) + (slice.compaction ? 0 : shapes.size() / 2);
  for (AtomicSchedule schedule : every_schedule()) {
    if (schedule.ufi == slice.ufi && (full_sweep() || in_ordinary_run(schedule))) {
      schedule.compaction = slice.compaction;
      check(sweep_case(shapes, schedule, turn++));
    }
  }
  EXPECT_EQ(summary_.kernels, full_sweep() ? 512 : 16);
  std::cout << fmt::format("{}: {} kernels, {:.0f} ms each, at worst {:.2f} of the tolerance\n", print(slice),
                           summary_.kernels, 1e3 * summary_.seconds / summary_.kernels, summary_.worst_share);
}

std::vector<Slice> every_slice() {
  std::vector<Slice> slices;
  for (int ufi = 1; ufi <= AtomicSchedule::max_ufi; ++ufi) {
    slices.push_back({ufi, true});
    slices.push_back({ufi, false});
  }
  return slices;
}

INSTANTIATE_TEST_SUITE_P(EverySchedule, ScheduleSweep, testing::ValuesIn(every_slice()),
                         [](const testing::TestParamInfo<Slice>& slice) { return print(slice.param); });

TEST(OrdinaryRun, CoversThePairsOfParameters) {
  std::set<std::pair<int, int>> ufi_ufk;
  std::set<std::pair<int, int>> ufi_warptile;
  std::set<std::pair<int, int>> warptile_threads;
  for (const AtomicSchedule& schedule : every_schedule()) {
    if (in_ordinary_run(schedule)) {
      ufi_ufk.emplace(schedule.ufi, schedule.ufk);
      ufi_warptile.emplace(schedule.ufi, schedule.warptile);
      warptile_threads.emplace(schedule.warptile, schedule.threads);
    }
  }
  EXPECT_EQ(every_schedule().size(), 8U * 16 * 4 * 8);
  EXPECT_EQ(ufi_ufk.size(), 8U * 16);
  EXPECT_EQ(ufi_warptile.size(), 8U * 4);
  EXPECT_EQ(warptile_threads.size(), 4U * 8);
}

/// There is no kernel then, whatever the schedule.
TEST(MatrixWithoutNonZeros, MakesCZero) {
  const SparseMatrix zero{5, 9, {0, 0, 0, 0, 0, 0}, {}, {}};
  const GeneratedLayer layer = layer_of(zero, 33, AtomicSchedule());
  const EmulatedKernel kernel(layer);
  for (const ProductCase& product : {ProductCase{33, 33, 33, 0}, ProductCase{7, 8, 9, 1}}) {
    const JudgedProduct judged = kernel.multiply(zero, product);
    EXPECT_TRUE(judged.passed()) << print(product) << ": " << print(judged);
  }
  EXPECT_EQ(transformer_problem(layer, zero), "");
}

}  // namespace
}  // namespace esc
