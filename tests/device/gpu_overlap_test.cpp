// SPDX-License-Identifier: Apache-2.0
// Kernels whose launch overlaps with the kernel before, on the GPU of this machine: right where they wait for it, and
// found wrong where they do not; skipped without a GPU, or without nvcc.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "generator/emit/generate.h"
#include "generator/ir/build.h"
#include "generator/lower/assign_roles.h"
#include "generator/matrix/sample.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/support/file.h"
#include "generator/support/temporary_folder.h"
#include "generator/verify/gpu_check.h"
#include "generator/verify/nvcc.h"
#include "generator/verify/predecessor.h"
#include "tests/device/gpu_machine.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

constexpr const char* wait = "cudaGridDependencySynchronize();";

/// C = A x B + bias + residual: a vector and a matrix are read beside B.
LoopNest finished_nest() {
  LoopNest nest = spmm_nest();
  const std::vector<Affine> of_c{Affine::of("i"), Affine::of("j")};
  nest.arrays.push_back({"bias", {Affine::of("M")}, ArrayRole::unknown});
  nest.arrays.push_back({"residual", {Affine::of("M"), Affine::of("N")}, ArrayRole::unknown});
  const Expression value = Expression(element("C", of_c)) + Expression(element("bias", {Affine::of("i")})) +
                           Expression(element("residual", of_c));
  nest.body.push_back(sequential_loop(
      "i", 0, Affine::of("M"), 1, Role::none,
      {sequential_loop("j", 0, Affine::of("N"), 1, Role::none, {statement(Store{element("C", of_c), value})})}));
  return assign_roles(nest);
}

const SparseMatrix& matrix() {
  static const SparseMatrix made =
      sample_matrix({.rows = 45, .columns = 83, .sparsity = 0.75, .structure = SampleStructure::powerlaw, .seed = 3});
  return made;
}

struct Overlapping {
  const char* name;
  const char* schedule;
};

class Overlap : public testing::TestWithParam<Overlapping> {
 protected:
  void SetUp() override {
    if (const std::string missing = tests::missing_for_gpu_tests(); !missing.empty()) {
      GTEST_SKIP() << missing;
    }
    write_bundle(make_bundle(layer_, [](const std::string&, const std::string& text) { return text; }), folder_.path(),
                 false);
    compile_bundle(folder_.path() / name_, name_, folder_.path());
    compile_predecessor(folder_.path());
  }

  VerificationReport check() const {
    const BundleLibrary library(folder_.path() / (name_ + ".so"), name_);
    return check_on_gpu(library, folder_.path() / predecessor_library, nest_, matrix(), dispatch_of(layer_.layer));
  }

  /// Compiles the bundle again, its kernel waiting for nothing.
  void take_wait_away() const {
    const fs::path file = folder_.path() / name_ / (name_ + ".cu");
    std::string text = read_file(file);
    const std::size_t at = text.find(wait);
    ASSERT_NE(at, std::string::npos);
    write_file_whole(file, text.erase(at, std::string(wait).size()));
    compile_bundle(folder_.path() / name_, name_, folder_.path());
  }

  const std::string name_ = "overlapping";
  const LoopNest nest_ = finished_nest();
  const GeneratedLayer layer_ = generate_layer(matrix(), nest_,
                                               {.name = name_,
                                                .source_file = "sample.mtx",
                                                .bcol = 36,
                                                .architectures = {90},
                                                .choice = parse_choice(GetParam().schedule, "user")});
  const TemporaryFolder folder_;
};

TEST_P(Overlap, IsRightBehindAKernelThatWritesLate) {
  const VerificationReport report = check();
  EXPECT_TRUE(report.passed()) << print(report);
}

TEST_P(Overlap, IsFoundWrongWithoutTheWait) {
  take_wait_away();
  EXPECT_FALSE(check().passed());
}

INSTANTIATE_TEST_SUITE_P(
    OfFamilies, Overlap,
    testing::Values(
        Overlapping{"panel",
                    "panel: tile=16x32, thread=4x4, split_k=2, lane_groups=2, unroll_k=4, stage_a=off, pdl=on"},
        Overlapping{"staged",
                    "panel: tile=16x16, thread=4x4, split_k=2, lane_groups=4, unroll_k=8, stage_a=on, pdl=on"},
        Overlapping{"rows", "rows: tile=1x8, thread=1x2, unroll_k=2, task=128, light=8, warps=2, pdl=on"}),
    [](const testing::TestParamInfo<Overlapping>& overlapping) { return overlapping.param.name; });

}  // namespace
}  // namespace esc
