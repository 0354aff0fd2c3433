// SPDX-License-Identifier: Apache-2.0
// Names of files that would break what they are written into.

#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

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

TEST_F(HostileFiles, NamesInOtherScriptsAreKept) {
  expect_bundle("層.mtx", "___");
  EXPECT_EQ(parse_json(read("out/___/manifest.json"))["source"], "層.mtx");
}

}  // namespace
}  // namespace esc::cli
