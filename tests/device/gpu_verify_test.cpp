// Needs a GPU and nvcc; without them its tests are skipped.

#include <gtest/gtest.h>

#include "generator/emit/generate.h"
#include "generator/frontend/format_source.h"
#include "generator/matrix/sample.h"
#include "generator/support/temporary_folder.h"
#include "generator/verify/cuda_runtime.h"
#include "generator/verify/gpu_check.h"
#include "generator/verify/nvcc.h"

namespace esc {
namespace {

class OnGpu : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (find_nvcc().empty()) {
      GTEST_SKIP() << "nvcc is not on this machine";
    }
    try {
      const CudaRuntime runtime;
    } catch (const UserError& missing) {
      GTEST_SKIP() << missing.what();
    }
  }
};

TEST_P(OnGpu, ABundleAgreesWithTheReference) {
  const SparseMatrix matrix = sample_matrix({.rows = 131, .columns = 257, .sparsity = 0.7, .seed = 3});
  const GeneratedLayer generated = generate_layer(matrix, spmm_nest(),
                                                  {.name = "sample",
                                                   .source_file = "sample.mtx",
                                                   .bcol = 100,
                                                   .architectures = {90},
                                                   .choice = {parse_schedule(GetParam()), "user"}});
  const TemporaryFolder folder;
  write_bundle(make_bundle(generated, [](const std::string& file, const std::string& text) { return format_source(text, file); }),
               folder.path(), false);
  const BundleLibrary library(compile_bundle(folder.path() / "sample", "sample", folder.path()), "sample");
  const VerificationReport report = check_on_gpu(library, matrix, 100);
  EXPECT_TRUE(report.passed()) << print(report);
}

INSTANTIATE_TEST_SUITE_P(Schedules, OnGpu, testing::Values("4-7-1-32", "3-7-2-32", "8-16-3-96", "1-1-1-32"));

}  // namespace
}  // namespace esc
