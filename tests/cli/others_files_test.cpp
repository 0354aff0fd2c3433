// SPDX-License-Identifier: Apache-2.0
// Folders and files that are not this run's: whatever happens, they stay.

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class OthersFiles : public Workshop {
 protected:
  static std::vector<std::string> forced(const std::string& name) {
    return {"generate", "a.mtx", "--bcol", "41", "-o", "out", "--name", name, "--no-verify", "--force"};
  }
};

TEST_F(OthersFiles, ManifestOfAnotherProgramIsNoBundle) {
  write_matrix();
  fs::create_directories(path("out/site/.git"));
  write("out/site/.git/HEAD", "ref: refs/heads/main\n");
  write("out/site/manifest.json", "{\"name\": \"site\", \"icons\": []}\n");
  expect_refusal(forced("site"), "out/site: holds .git, which is no file of a bundle site");
  fs::remove_all(path("out/site/.git"));
  expect_refusal(forced("site"), "out/site: has no manifest.json of a bundle site");
}

TEST_F(OthersFiles, WhatWasAddedToABundleStays) {
  make_bundle();
  write("out/a/notes.txt", "mine");
  expect_refusal(forced("a"), "out/a: holds notes.txt, which is no file of a bundle a");
  fs::remove(path("out/a/notes.txt"));
  fs::remove(path("out/a/a.h"));
  fs::create_directory(path("out/a/a.h"));
  write("out/a/a.h/mine", "mine");
  expect_refusal(forced("a"), "out/a: holds a.h, which is no file of a bundle a");
  fs::remove_all(path("out/a/a.h"));
  EXPECT_EQ(escgen(forced("a")).status, 0) << "a damaged bundle is replaced";
}

TEST_F(OthersFiles, BundleOfAnotherNameStays) {
  make_bundle();
  fs::create_directory(path("out/b"));
  fs::copy_file(path("out/a/manifest.json"), path("out/b/manifest.json"));
  expect_refusal(forced("b"), "out/b: has no manifest.json of a bundle b");
}

TEST_F(OthersFiles, FolderBehindALinkStays) {
  make_bundle();
  fs::rename(path("out/a"), path("elsewhere"));
  fs::create_directory_symlink("../elsewhere", path("out/a"));
  expect_refusal(forced("a"), "out/a: is a symbolic link, which is not replaced");
  fs::remove_all(path("elsewhere"));
  expect_refusal(forced("a"), "out/a: is not a folder");
}

// Each of several runs finds nothing there when it begins.
TEST_F(OthersFiles, OfRunsAtOnceOneWrites) {
  write_matrix();
  for (const std::string preload : {"", ESC_NO_EXCHANGE}) {
    for (int round = 0; round < 3; ++round) {
      fs::remove_all(path("out"));
      const ProcessResult all = shell(R"(
        for bcol in 40 41 42 43 44 45; do
          LD_PRELOAD=)" + preload + R"( $ESCGEN generate a.mtx --bcol $bcol -o out --no-verify > said$bcol 2>&1 &
          pids="$pids $!"
        done
        for pid in $pids; do wait $pid; echo $?; done)");
      std::string statuses = all.output;
      std::erase(statuses, '\n');
      std::ranges::sort(statuses);
      EXPECT_EQ(statuses, "022222") << all.errors;
      EXPECT_EQ(snapshot("out").size(), 7U) << "nothing is left beside the bundle";
      const std::string bcol = parse_json(read("out/a/manifest.json"))["bcol"].dump();
      EXPECT_EQ(escgen({"generate", "a.mtx", "--bcol", bcol, "-o", "out", "--check"}).status, 0);
      EXPECT_THAT(read("said" + bcol), HasSubstr("(written)"));
      EXPECT_THAT(read(bcol == "40" ? "said41" : "said40"), HasSubstr("out/a: holds a different bundle"));
    }
  }
}

TEST_F(OthersFiles, EqualRunsAtOnceAllEndWell) {
  write_matrix();
  const ProcessResult all = shell(R"(
    for run in 1 2 3 4; do
      $ESCGEN generate a.mtx --bcol 40 -o out --no-verify > said$run 2>&1 &
      pids="$pids $!"
    done
    for pid in $pids; do wait $pid || exit; done)");
  EXPECT_EQ(all.status, 0) << read("said1") << read("said2");
  EXPECT_EQ(snapshot("out").size(), 7U);
}

TEST_F(OthersFiles, LeftOverFoldersOfKilledRunsGo) {
  write_matrix();
  const auto make = [&](const std::string& name, const std::string& file) {
    fs::create_directories(path("out/" + name));
    write("out/" + name + "/" + file, "half");
  };
  make(".a.escgen-Ab12Cd", "a.cu");
  make(".a.escgen-Ab12Ce", ".a.cu.escgen-1");
  make(".a.escgen-Ab12Cf", "notes.txt");
  make(".b.escgen-Ab12Cd", "a.cu");
  make(".a.backup", "a.cu");
  make(".a.escgen-in_use", "a.cu");
  const int in_use = ::open(path("out/.a.escgen-in_use").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(in_use, LOCK_EX), 0);
  EXPECT_EQ(escgen({"generate", "a.mtx", "--bcol", "40", "-o", "out", "--no-verify"}).status, 0);
  ::close(in_use);
  const auto is_there = [&](const std::string& name) { return fs::exists(path("out/" + name)); };
  EXPECT_FALSE(is_there(".a.escgen-Ab12Cd"));
  EXPECT_FALSE(is_there(".a.escgen-Ab12Ce"));
  EXPECT_TRUE(is_there(".a.escgen-Ab12Cf/notes.txt")) << "somebody has put a file there";
  EXPECT_TRUE(is_there(".b.escgen-Ab12Cd/a.cu")) << "of another bundle";
  EXPECT_TRUE(is_there(".a.backup/a.cu")) << "a user's own";
  EXPECT_TRUE(is_there(".a.escgen-in_use/a.cu")) << "another run writes it";
}

}  // namespace
}  // namespace esc::cli
