// SPDX-License-Identifier: Apache-2.0
// The Debian packages that cpack makes of a build tree: what is in them, and what they ask for.

#include "generator/support/process.h"
#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Packages : public Workshop {
 protected:
  void SetUp() override {
    if (run_process({"sh", "-c", "command -v dpkg-deb && command -v dpkg-shlibdeps && command -v file"}).status != 0) {
      GTEST_SKIP() << "Debian's dpkg-dev and file are not on this machine";
    }
    const ProcessResult packed =
        run_process({ESC_CPACK, "--config", ESC_BUILD_DIR "/CPackConfig.cmake", "-G", "DEB", "-B", path("packages")});
    ASSERT_EQ(packed.status, 0) << packed.output;
  }

  /// What dpkg-deb says of a package.
  std::string said(const std::string& question, const std::string& package) const {
    for (const fs::directory_entry& file : fs::directory_iterator(path("packages"))) {
      if (file.path().filename().string().starts_with(package + "_") && file.path().extension() == ".deb") {
        return run_process({"dpkg-deb", question, file.path()}).output;
      }
    }
    return "there is no package " + package;
  }
};

TEST_F(Packages, HaveTheProgramsAndWhatTheyNeed) {
  EXPECT_THAT(said("--contents", "esc"),
              AllOf(HasSubstr(" ./usr/bin/escgen\n"), HasSubstr(" ./usr/bin/esctune\n"),
                    HasSubstr("/share/man/man1/escgen.1"), HasSubstr("/share/doc/esc/copyright\n"),
                    HasSubstr("/share/esc/nests/spmm.c\n"), Not(HasSubstr("esctune-worker"))));
  EXPECT_THAT(said("--field", "esc"),
              AllOf(HasSubstr("\nDepends: "), HasSubstr("libc6 "), HasSubstr("libclang-common-")));
  if (!fs::exists(ESC_BUILD_DIR "/bin/esctune-worker")) {
    GTEST_SKIP() << "built without a CUDA toolkit: there is no package esctune-worker";
  }
  const std::string worker = said("--contents", "esctune-worker");
  EXPECT_THAT(worker, AllOf(HasSubstr(" ./usr/bin/esctune-worker\n"), Not(HasSubstr("/escgen"))));
  EXPECT_THAT(said("--field", "esctune-worker"),
              AllOf(HasSubstr("\nDepends: "), HasSubstr("esc (= "), HasSubstr("needs the libraries of CUDA")));
}

}  // namespace
}  // namespace esc::cli
