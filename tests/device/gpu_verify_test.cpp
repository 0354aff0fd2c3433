// SPDX-License-Identifier: Apache-2.0
// Bundles of all families, compiled and run on the GPU of this machine; skipped without one, or without nvcc.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "generator/emit/generate.h"
#include "generator/support/temporary_folder.h"
#include "generator/verify/gpu_check.h"
#include "generator/verify/predecessor.h"
#include "tests/device/gpu_bundles.h"
#include "tests/device/gpu_machine.h"
#include "tests/support/awkward_shapes.h"
#include "tests/support/covering_sample.h"
#include "tests/support/run_size.h"
#include "tests/support/schedule_part.h"

namespace esc {
namespace {

using tests::awkward_shapes;
using tests::full_sweep;
using tests::NamedMatrix;
using tests::ScheduleFor;

/// The values that decide which lines the kernel of a schedule has.
struct KernelKeys {
  int bcol = 0;

  std::vector<int> operator()(const AtomicSchedule& one) const {
    return {one.ufi, one.ufk > 1, one.warptile, one.threads > 32, one.compaction};
  }
  std::vector<int> operator()(const PanelSchedule& one) const {
    return {bcol, one.ufi, one.vector, one.groups > 1, one.warps > 1, one.row_tiles > 1, one.stage, one.pdl};
  }
  std::vector<int> operator()(const StreamSchedule& one) const {
    return {bcol, one.columns, one.row_tiles, one.warps, one.stages, one.share, one.rows, one.pdl};
  }
  std::vector<int> operator()(const GatherSchedule& one) const { return {bcol, one.sets, one.warps, one.pdl}; }
  std::vector<int> operator()(const BitmapSchedule& one) const {
    return {bcol, one.columns, one.row_tiles, one.warps, one.stages, one.packed_tiles, one.pdl};
  }
  std::vector<int> operator()(const RowsSchedule& one) const {
    const bool short_tasks = one.task < 16;
    return {bcol, one.vector, one.unroll, short_tasks, one.light == one.task, one.warps > 1, one.pdl};
  }
};

/// The schedules to try: in a whole run all pairs of values of all parameters come up, else those that change the
/// kernel's lines.
std::vector<ScheduleFor> choices_of(const std::string& family) {
  std::vector<ScheduleFor> legal = family == "atomic"  ? tests::legal_atomic()
                                   : family == "panel" ? tests::legal_panel()
                                                       : tests::legal_rows();
  const std::size_t with_pdl = family == "atomic" ? 0 : legal.size();
  for (std::size_t index = 0; index < with_pdl; ++index) {
    ScheduleFor one = legal[index];
    std::visit(
        [](auto& schedule) {
          if constexpr (requires { schedule.pdl; }) {
            schedule.pdl = false;
          }
        },
        one.schedule);
    legal.push_back(one);
  }
  return full_sweep() ? tests::ordinary_part(legal) : tests::covering_part(legal, [](const ScheduleFor& one) {
    return std::visit(KernelKeys{static_cast<int>(one.bcol)}, one.schedule);
  });
}

/// A generated layer, and where its shared library will be.
struct Trial {
  GeneratedLayer generated;
  const NamedMatrix* shape = nullptr;
  std::int64_t bcol = 0;

  const std::string& name() const { return generated.layer.name; }
};

/// The sample of the choices, each with the shape, of those for which the schedule is legal, that has waited longest.
std::vector<Trial> trials_of(const std::vector<ScheduleFor>& choices, const std::vector<NamedMatrix>& shapes) {
  std::vector<Trial> trials;
  std::vector<const NamedMatrix*> turns;  // the next one first
  for (const NamedMatrix& shape : shapes) {
    turns.push_back(&shape);
  }
  for (const ScheduleFor& choice : choices) {
    for (auto turn = turns.begin(); turn != turns.end(); ++turn) {
      const NamedMatrix& shape = **turn;
      try {
        trials.push_back({generate_layer(shape.matrix, spmm_nest(),
                                         {.name = fmt::format("trial_{}", trials.size()),
                                          .source_file = "trial.mtx",
                                          .bcol = choice.bcol,
                                          .architectures = {90},
                                          .choice = {choice.schedule, "user"}}),
                          &shape, choice.bcol});
        std::rotate(turn, turn + 1, turns.end());
        break;
      } catch (const UnsuitableSchedule&) {
        // Regions that do not fit into shared memory, or sums over too many columns or tasks.
      }
    }
  }
  return trials;
}

class Family : public testing::TestWithParam<const char*> {
 protected:
  std::vector<Trial> trials() const { return trials_of(choices_of(GetParam()), shapes_); }

  const std::vector<NamedMatrix> shapes_ = awkward_shapes();
};

TEST_P(Family, IsTriedOnEveryShape) {
  std::set<std::string> seen;
  const std::vector<Trial> all = trials();
  for (const Trial& trial : all) {
    seen.insert(trial.shape->name);
  }
  EXPECT_EQ(seen.size(), shapes_.size());
  std::cout << all.size() << " bundles\n";
}

TEST_P(Family, AgreesWithTheReferenceOnTheGpu) {
  if (const std::string missing = tests::missing_for_gpu_tests(); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const std::vector<Trial> all = trials();
  std::vector<const GeneratedLayer*> layers;
  for (const Trial& trial : all) {
    layers.push_back(&trial.generated);
  }
  const TemporaryFolder folder;
  tests::compile_layers(layers, folder.path());
  for (const Trial& trial : all) {
    const BundleLibrary library(folder.path() / (trial.name() + ".so"), trial.name());
    const VerificationReport report = check_on_gpu(library, folder.path() / predecessor_library, spmm_nest(),
                                                   trial.shape->matrix, dispatch_of(trial.generated.layer));
    EXPECT_TRUE(report.passed()) << print(trial.generated.layer.choice.schedule) << " on '" << trial.shape->name
                                 << "', bCol " << trial.bcol << "\n"
                                 << print(report);
  }
}

INSTANTIATE_TEST_SUITE_P(OfSchedules, Family, testing::Values("atomic", "panel", "rows"),
                         [](const testing::TestParamInfo<const char*>& family) { return family.param; });

}  // namespace
}  // namespace esc
