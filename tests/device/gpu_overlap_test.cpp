// Kernels whose launch overlaps with the kernel in front, on the GPU of this machine: right where they wait for it, and found wrong where they
// do not; skipped without a GPU, or without nvcc.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "generator/frontend/parse_loop_nest.h"
#include "generator/matrix/sample.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/support/file.h"
#include "generator/support/temporary_folder.h"
#include "generator/verify/gpu_check.h"
#include "generator/verify/nvcc.h"
#include "generator/verify/predecessor.h"
#include "tests/device/gpu_bundles.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

constexpr const char* wait = "cudaGridDependencySynchronize();";

/// The kernel writes over what the predecessor makes of C, and reads a vector and a matrix beside B.
constexpr const char* finished_text =
    "void finished(int M, int K, int N, const float A[M][K], const float B[K][N], float C[M][N], const float bias[M], const float residual[M][N]) {\n"
    "  for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) for (int k = 0; k < K; k++) C[i][j] += A[i][k] * B[k][j];\n"
    "  for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) C[i][j] += bias[i] + residual[i][j];\n"
    "}\n";

const SparseMatrix& matrix() {
  static const SparseMatrix made = sample_matrix({.rows = 45, .columns = 83, .sparsity = 0.75, .structure = SampleStructure::powerlaw, .seed = 3});
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
    tests::compile_layers({&layer_}, folder_.path());
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
  const LoopNest nest_ = parse_loop_nest(finished_text, "finished.c");
  const GeneratedLayer layer_ = generate_layer(
      matrix(), nest_,
      {.name = name_, .source_file = "sample.mtx", .bcol = 36, .architectures = {90}, .choice = parse_choice(GetParam().schedule, "user")});
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
    testing::Values(Overlapping{"panel", "panel:ufi=4,columns=32,vector=4,groups=2,warps=2,panels=4,ufk=4,stage=off,pdl=on"},
                    Overlapping{"staged", "panel:ufi=4,columns=16,vector=4,groups=4,warps=2,panels=4,ufk=8,stage=on,pdl=on"},
                    Overlapping{"rows", "rows:columns=8,vector=2,unroll=2,task=128,light=8,warps=2,pdl=on"}),
    [](const testing::TestParamInfo<Overlapping>& overlapping) { return overlapping.param.name; });

}  // namespace
}  // namespace esc
