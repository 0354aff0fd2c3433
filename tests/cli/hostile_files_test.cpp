// SPDX-License-Identifier: Apache-2.0
// Names of files that would break what they are written into.

#include <cstdint>

#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class HostileFiles : public Workshop {
 protected:
  /// Generates from a matrix with this file name; the bundle must pass its verification and have this name.
  void expect_bundle(const std::string& file, const std::string& name) const {
    SCOPED_TRACE(file);
    write_matrix(file);
    const ProcessResult generated = escgen({"generate", file, "--bcol", "4", "-o", "out"});
    EXPECT_EQ(generated.status, 0) << generated.errors;
    EXPECT_TRUE(snapshot("out").contains(name));
  }
};

TEST_F(HostileFiles, NamesThatAreNoIdentifiers) {
  expect_bundle("ffn-1.weight.mtx", "ffn_1_weight");
  expect_bundle("12.mtx", "layer_12");
  expect_bundle("a\"b\\.mtx", "a_b_");
  expect_bundle("*_&.mtx", "___");
}

TEST_F(HostileFiles, NamesThatWouldHideAHeaderOrATarget) {
  expect_bundle("stdint.mtx", "layer_stdint");
  expect_bundle("cuda_runtime.mtx", "layer_cuda_runtime");
  expect_bundle("test.mtx", "layer_test");
}

TEST_F(HostileFiles, NamesThatWouldEndAComment) {
  expect_bundle("a\n#error x\n.mtx", "a__error_x_");
  EXPECT_THAT(read("out/a__error_x_/CMakeLists.txt"), HasSubstr("from a?#error x?.mtx"));
}

TEST_F(HostileFiles, NamesThatWouldReadOtherwiseThanTheyAre) {
  expect_bundle("c*\\.mtx", "c__");
  EXPECT_THAT(read("out/c__/c__.cu"), HasSubstr("from c*_.mtx (pattern"));
  // U+202E turns what follows round; U+2066 to U+2069 and U+200F do the like; U+0085 and U+2028 end a line for some.
  expect_bundle("d\u202e\u2066\u200f\u0085\u2028.mtx", "d______________");
  for (const std::string file : {"d______________.cu", "d______________.h", "CMakeLists.txt", "manifest.json"}) {
    EXPECT_THAT(read("out/d______________/" + file), HasSubstr("d?????.mtx")) << file;
  }
}

TEST_F(HostileFiles, NamesThatAreNotUtf8) {
  expect_bundle("b\xff.mtx", "b_");
  EXPECT_EQ(parse_json(read("out/b_/manifest.json"))["source"], "b\xef\xbf\xbd.mtx");
  const ProcessResult generated =
      escgen({"generate", "b\xff.mtx", "--bcol", "4", "-o", "out\xfe", "--json", "--no-verify"});
  EXPECT_EQ(generated.status, 0) << generated.errors;
  EXPECT_EQ(parse_json(generated.output)["name"], "b_");
}

// Every option that names a file: what waits, has no end or is no file is refused by name.
TEST_F(HostileFiles, WhatWouldBeWaitedForOrHasNoEnd) {
  write_matrix("a.mtx");
  ASSERT_EQ(shell("mkfifo pipe && ln -s pipe to_pipe && ln -s /dev/zero endless && truncate -s 5G large").status, 0);
  for (const std::string file : {"pipe", "to_pipe", "endless", "large", "."}) {
    for (const std::string& line :
         {"generate --spec " + file + " -o out", "generate a.mtx --bcol 4 -o out --kernel " + file,
          "generate a.mtx --bcol 4 -o out --schedule-file " + file, "lower --schedule-file " + file}) {
      const ProcessResult refused = shell("ulimit -v 2000000; exec timeout 20 $ESCGEN " + line);
      EXPECT_EQ(refused.status, 2) << line << ": " << refused.errors;
      EXPECT_THAT(refused.errors, HasSubstr("escgen: " + file + ": ")) << line;
    }
    const ProcessResult database = shell("exec timeout 20 $ESCGEN generate a.mtx --bcol 4 -o out --database " + file);
    EXPECT_EQ(database.status, 2) << file << ": " << database.errors;
  }
  // Links to files, as caches of downloads have them, are files.
  write("schedule", "panel:ufi=2\n");
  ASSERT_EQ(shell("ln -s schedule to_schedule && ln -s a.mtx b.mtx").status, 0);
  EXPECT_EQ(escgen({"generate", "b.mtx", "--bcol", "64", "-o", "out", "--no-verify", "--schedule-file", "to_schedule"})
                .status,
            0);
}

TEST_F(HostileFiles, HeadersOfHoles) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer maps terabytes, which no limit of memory allows";
#endif
  const std::string four_gib("\xf0\xff\xff\xff\0\0\0\0", 8);
  write("a.safetensors", four_gib);
  write("b.npy", std::string("\x93NUMPY\x02\0", 8) + four_gib.substr(0, 4));
  for (const std::string name : {"c.safetensors.index.json", "d.npz", "e.smtx", "f.mtx"}) {
    write(name, "");
  }
  for (const std::string name : {"a.safetensors", "b.npy", "c.safetensors.index.json", "d.npz", "e.smtx", "f.mtx"}) {
    fs::resize_file(path(name), std::uintmax_t{5} << 30U);
    const ProcessResult refused = shell("ulimit -v 1000000; exec timeout 60 $ESCGEN inspect " + name);
    EXPECT_EQ(refused.status, 2) << name << ": " << refused.errors;
    EXPECT_THAT(refused.errors, HasSubstr("escgen: " + name)) << name;
  }
}

TEST_F(HostileFiles, NamesWithANul) {
  write_matrix("a.mtx");
  for (const std::string spec :
       {R"({"model": "\u0000", "bcol": [8]})", R"({"layers": [{"matrix": "a.mtx\u0000.npy", "bcol": 8}]})",
        R"({"layers": [{"matrix": "a.mtx", "bcol": 8, "name": "a\u0000b"}]})",
        R"({"layers": [{"matrix": "a.mtx", "bcol": 8, "kernel": "\u0000"}]})",
        R"({"model": "a.safetensors", "bcol": [8], "database": "x\u0000"})"}) {
    write("spec.json", spec);
    const ProcessResult refused = shell("ulimit -v 2000000; exec timeout 20 $ESCGEN generate --spec spec.json -o out");
    EXPECT_EQ(refused.status, 2) << spec << ": " << refused.errors;
    EXPECT_THAT(refused.errors, HasSubstr("has a NUL in a text")) << spec;
  }
  EXPECT_TRUE(snapshot("out").empty());
}

// What a user has written is said without what would steer the terminal that it is said on.
TEST_F(HostileFiles, WordsThatWouldPaintTheTerminal) {
  write_matrix("a\x1b[2J\r.mtx");
  const std::vector<std::vector<std::string>> lines = {
      {"generate", "a\x1b[2J\r.mtx", "--bcol", "4", "-o", "out\x1b[2J\r", "--no-verify", "-v"},
      {"generate", "a\x1b[2J\r.mtx", "--bcol", "4", "-o", "out", "--no-verify", "--schedule", "pa\x1b[2J\rnel"},
      {"generate", "a\x1b[2J\r.mtx", "--bcol", "4", "-o", "out", "--no-verify", "--schedule",
       "unroll(i, 2)\x1b[2J\r; enumerate()"},
      {"inspect", "a\x1b[2J\r.mtx"},
      {"lower", "--schedule", "panel:\x1b[2J\rufi=2"},
      {"generate", "none\x1b[2J\r.mtx", "--bcol", "4", "-o", "out"}};
  for (const std::vector<std::string>& line : lines) {
    const ProcessResult said = escgen(line);
    EXPECT_THAT(said.output + said.errors, HasSubstr("?[2J")) << line.front();
    EXPECT_EQ((said.output + said.errors).find_first_of("\x1b\r"), std::string::npos) << line.front();
  }
}

/// Of nearly empty row tiles and K tiles, each of which would have a unit.
TEST_F(HostileFiles, MatricesOfWhichNearlyNothingIsThere) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer maps terabytes, which no limit of memory allows";
#endif
  ASSERT_EQ(
      escgen({"sample", "-o", "a.mtx", "--rows", "100000", "--cols", "100000", "--sparsity", "0.99999", "-q"}).status,
      0);
  const std::string within = "ulimit -v 2000000; exec timeout 300 $ESCGEN generate a.mtx --bcol 8 --no-verify -o out ";
  const ProcessResult chosen = shell(within + "--dtype f16 -v");
  EXPECT_EQ(chosen.status, 0) << chosen.errors;
  EXPECT_THAT(chosen.output, Not(HasSubstr("schedule   stream")));
  const ProcessResult named = shell(within + "--dtype tf32 --force --schedule stream:panels=4");
  EXPECT_EQ(named.status, 2) << named.output << named.errors;
  EXPECT_THAT(named.errors, HasSubstr("as CSR, into"));
}

TEST_F(HostileFiles, NamesInOtherScriptsAreKept) {
  expect_bundle("層.mtx", "___");
  EXPECT_EQ(parse_json(read("out/___/manifest.json"))["source"], "層.mtx");
}

}  // namespace
}  // namespace esc::cli
