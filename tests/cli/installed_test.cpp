// SPDX-License-Identifier: Apache-2.0
// What `cmake --install` leaves, moved to another folder, and a project in a tree of its own that finds it: kernels are generated when they
// must be, and only then.

#include "generator/verify/nvcc.h"
#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Installed : public Workshop {
 protected:
  void SetUp() override {
    run({ESC_CMAKE, "--install", ESC_BUILD_DIR, "--component", "programs", "--prefix", path("first")});
    fs::rename(path("first"), path("usr"));
  }

  /// Runs a command, which must succeed; what it said.
  std::string run(const std::vector<std::string>& command) const {
    const ProcessResult result = run_process(command, {.folder = folder()});
    EXPECT_EQ(result.status, 0) << result.output;
    return result.output;
  }

  ProcessResult build(const std::string& target) const {
    return run_process({ESC_CMAKE, "--build", "build", "--target", target}, {.folder = folder()});
  }
};

TEST_F(Installed, ProgramsRunWhereverTheyAreMovedTo) {
  write_matrix();
  EXPECT_THAT(run({path("usr/bin/esctune"), "--version"}), StartsWith("esctune "));
  EXPECT_THAT(run({path("usr/bin/escgen"), "generate", "a.mtx", "--bcol", "8", "--epilogue", "gelu", "-o", "out"}), HasSubstr("(written)"));
  for (const char* const page : {"usr/share/man/man1/escgen.1", "usr/share/bash-completion/completions/escgen", "usr/share/esc/nests/spmm.c"}) {
    EXPECT_TRUE(fs::is_regular_file(path(page))) << page;
  }
}

TEST_F(Installed, AProjectMakesItsKernelsAgainWhenTheyMustBe) {
  const std::string nvcc = find_nvcc();
  if (nvcc.empty()) {
    GTEST_SKIP() << "nvcc is not on this machine";
  }
  const auto write_values = [&](const std::string& first) {
    write("a.mtx", "%%MatrixMarket matrix coordinate real general\n5 7 4\n1 1 " + first + "\n2 1 0.5\n2 7 -1\n5 3 2\n");
  };
  write_values("1");
  const auto configure = [&](const std::vector<std::string>& options) {
    std::vector<std::string> command{ESC_CMAKE, "-S", ESC_SOURCE_DIR "/tests/cli/network", "-B", "build", "-G", ESC_CMAKE_GENERATOR,
                                     "-DCMAKE_CUDA_COMPILER=" + nvcc, "-DCMAKE_PREFIX_PATH=" + path("usr").string(),
                                     "-DMATRIX=" + path("a.mtx").string(),
                                     "-DMODEL=" ESC_SOURCE_DIR "/tests/data/models/model.safetensors.index.json"};
    command.insert(command.end(), options.begin(), options.end());
    run(command);
  };
  configure({});
  ASSERT_EQ(build("network").status, 0);
  EXPECT_EQ(run({path("build/network"), "build/esc_kernels/layer/layer.packed"}), "the layer is usable\n");
  EXPECT_TRUE(fs::is_regular_file(path("build/esc_kernels/b/manifest.json"))) << "found in the model";
  EXPECT_THAT(build("network").output, Not(HasSubstr("Generating")));
  run({ESC_CMAKE, "--install", "build", "--prefix", path("network")});
  EXPECT_THAT(read("network/lib/cmake/network/network.cmake"), AllOf(HasSubstr("network::layer"), Not(HasSubstr(folder().string()))));

  // Other values in the same pattern: another packed matrix.
  const std::string packed = read("build/esc_kernels/layer/layer.packed");
  write_values("3");
  EXPECT_THAT(build("layer_esc_bundle").output, HasSubstr("Generating"));
  EXPECT_NE(read("build/esc_kernels/layer/layer.packed"), packed);

  // The same bundle, now under version control.
  fs::rename(path("build/esc_kernels"), path("bundles"));
  configure({"-DCHECK=ON", "-DBUNDLES=" + path("bundles").string()});
  EXPECT_EQ(build("layer_esc_bundle").status, 0);
  write_values("4");
  const ProcessResult stale = build("layer_esc_bundle");
  EXPECT_NE(stale.status, 0);
  EXPECT_THAT(stale.output, HasSubstr("stale"));
}

}  // namespace
}  // namespace esc::cli
