// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/layer_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "generator/matrix/fingerprint.h"
#include "generator/matrix/matrix_reader.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/temporary_folder.h"

namespace esc::tuning {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;

constexpr const char* diagonal = "2, 2, 2\n0 1 2\n0 1\n";
constexpr const char* upper = "2, 3, 4\n0 3 4\n0 1 2 2\n";
constexpr const char* empty = "2, 2, 0\n0 0 0\n\n";

class LayerListTest : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) const {
    const fs::path path = folder_.path() / name;
    fs::create_directories(path.parent_path());
    write_file_whole(path, content);
    return path.string();
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

 private:
  TemporaryFolder folder_;
};

TEST_F(LayerListTest, TakesFilesAsTheyAreAndFoldersInTheOrderOfPaths) {
  const std::string b = file("layers/b.smtx", diagonal);
  const std::string a = file("layers/a/z.MTX", "");
  const std::string c = file("layers/c.npy", "");
  file("layers/readme.txt", "");
  const std::string single = file("single.dat", "");
  EXPECT_THAT(matrix_files({single, path("layers"), b}), ElementsAre(single, a, b, c, b));
  EXPECT_THAT(matrix_files({}), IsEmpty());
}

TEST_F(LayerListTest, TakesTensorsOfModels) {
  const std::string models = ESC_SOURCE_DIR "/tests/data/models/";
  const std::string tensor = models + "layers.safetensors:up_proj.weight";
  const std::string list =
      file("list.txt", tensor + "  # a layer\n" + models + "csr.npz\n" + models + "bitmask.safetensors:early.weight\n");
  const std::vector<std::string> files = matrix_files(read_matrix_list(list));
  EXPECT_THAT(files, ElementsAre(tensor, models + "csr.npz", models + "bitmask.safetensors:early.weight"));
  const LayerList found = read_layers(files);
  EXPECT_THAT(found.problems, IsEmpty());
  ASSERT_THAT(found.layers, SizeIs(2)) << "the second is the first one's matrix";
  EXPECT_EQ(found.layers[0].file, tensor);
  EXPECT_EQ(found.layers[0].nonzeros, 186);
  EXPECT_EQ(found.layers[1].columns, 37);
  EXPECT_THAT(read_layers({models + "layers.safetensors"}).problems,
              ElementsAre(HasSubstr("has 6 matrices; write FILE:TENSOR")));
}

TEST_F(LayerListTest, TakesModelsAsAWhole) {
  const std::string model = ESC_SOURCE_DIR "/tests/data/models/layers.safetensors";
  const std::vector<std::string> names{model, model + ":up_proj.weight", ESC_SOURCE_DIR "/tests/data/models/csr.npz"};
  const std::vector<std::string> files = matrix_files(names);
  ASSERT_THAT(files, SizeIs(8));
  EXPECT_EQ(files[1], model + ":down_proj.weight");
  EXPECT_THAT(layers_of_models(names), SizeIs(6));
  EXPECT_THAT(layers_of_models({model + ":up_proj.weight"}), IsEmpty());
}

TEST_F(LayerListTest, KeepsOneOfEachKindOfAModel) {
  const auto layer = [](const std::string& file, std::int64_t rows, std::int64_t nonzeros, std::int64_t longest) {
    return LayerFacts{
        .file = file, .pattern = file, .rows = rows, .columns = 64, .nonzeros = nonzeros, .longest_row = longest};
  };
  LayerList list{.layers = {layer("m:a", 64, 1000, 30), layer("m:b", 64, 1001, 30), layer("m:c", 64, 1002, 30),
                            layer("m:d", 32, 500, 30), layer("m:e", 64, 200, 30), layer("m:f", 64, 3000, 60),
                            layer("own", 64, 1000, 30)},
                 .problems = {},
                 .notes = {}};
  keep_one_of_each_kind(list, {"m:a", "m:b", "m:c", "m:d", "m:e", "m:f"}, 0.45);
  std::vector<std::string> kept;
  for (const LayerFacts& one : list.layers) {
    kept.push_back(one.file);
  }
  EXPECT_THAT(kept, ElementsAre("m:a", "m:d", "m:e", "own"));
  EXPECT_THAT(list.notes, ElementsAre("m:a: is tuned for 2 more layers of its shape and kind of pattern",
                                      "1 layers with less than 45 % zeros are left out"));
}

TEST_F(LayerListTest, RefusesNamesThatStandForNothing) {
  EXPECT_THAT([&] { matrix_files({path("missing.smtx")}); },
              ThrowsMessage<UserError>(HasSubstr("missing.smtx: does not exist")));
  file("notes/readme.txt", "");
  EXPECT_THAT([&] { matrix_files({path("notes")}); },
              ThrowsMessage<UserError>(HasSubstr("notes: has no matrix in it")));
}

/// While it lives, root reads only what everybody may read.
class AsNobody {
 public:
  AsNobody() : is_nobody_(geteuid() != 0 || seteuid(65534) == 0) {}
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  ~AsNobody() { static_cast<void>(seteuid(getuid())); }

  bool is_nobody() const { return is_nobody_; }

 private:
  bool is_nobody_;
};

TEST_F(LayerListTest, RefusesAFolderThatCannotBeRead) {
  file("layers/a.smtx", diagonal);
  file("layers/locked/b.smtx", diagonal);
  fs::permissions(path("."), fs::perms{0755});
  fs::permissions(path("layers"), fs::perms{0755});
  fs::permissions(path("layers/locked"), fs::perms::none);
  {
    const AsNobody nobody;
    std::error_code ignored;
    if (!nobody.is_nobody() || !fs::is_directory(path("layers"), ignored)) {
      GTEST_SKIP() << "every user here may read everything, or the temporary folder is root's alone";
    }
    for (const char* folder : {"layers", "layers/locked"}) {
      EXPECT_THAT([&] { matrix_files({path(folder)}); },
                  ThrowsMessage<UserError>(HasSubstr("layers/locked: cannot be read: Permission denied")));
    }
  }
  fs::permissions(path("layers/locked"), fs::perms::owner_all);
}

TEST_F(LayerListTest, NamesALinkThatLeadsNowhereKnown) {
  const std::string good = file("layers/good.smtx", diagonal);
  fs::create_symlink("loop.smtx", path("layers/loop.smtx"));
  fs::create_symlink("loop.txt", path("layers/loop.txt"));
  fs::create_symlink("absent.smtx", path("layers/dangling.smtx"));
  const std::vector<std::string> files = matrix_files({path("layers")});
  EXPECT_THAT(files, ElementsAre(good, path("layers/loop.smtx")));
  EXPECT_THAT(read_layers(files).problems, ElementsAre(HasSubstr("layers/loop.smtx: cannot be read")));
}

TEST_F(LayerListTest, ReadsNamesBesideTheList) {
  const std::string list = file(
      "lists/all.txt", "# layers\n  a.smtx \r\n\n../b c.smtx # the second\n/somewhere/d.smtx\n\t#e.smtx\nlast.smtx");
  EXPECT_THAT(read_matrix_list(list), ElementsAre(path("lists/a.smtx"), path("lists/../b c.smtx"), "/somewhere/d.smtx",
                                                  path("lists/last.smtx")));
}

TEST_F(LayerListTest, RefusesAListOfNothing) {
  for (const char* content : {"", "\n\n", "# nothing\n"}) {
    EXPECT_THAT([&] { read_matrix_list(file("list.txt", content)); },
                ThrowsMessage<UserError>(HasSubstr("names no matrix")));
  }
  EXPECT_THROW(read_matrix_list(path("missing.txt")), UserError);
}

TEST_F(LayerListTest, KeepsWhatIsToBeKnownOfALayer) {
  const std::string name = file("upper.smtx", upper);
  const LayerList list = read_layers({name});
  ASSERT_THAT(list.layers, SizeIs(1));
  const LayerFacts& layer = list.layers.front();
  EXPECT_EQ(layer.file, name);
  EXPECT_EQ(layer.pattern, fingerprint(read_matrix(name)).pattern);
  EXPECT_EQ(layer.rows, 2);
  EXPECT_EQ(layer.columns, 3);
  EXPECT_EQ(layer.nonzeros, 4);
  EXPECT_EQ(layer.longest_row, 3);
  EXPECT_DOUBLE_EQ(layer.row_variation, 0.5);
  EXPECT_DOUBLE_EQ(layer.sparsity(), 1 - 4.0 / 6);
  EXPECT_THAT(list.problems, IsEmpty());
  EXPECT_THAT(list.notes, IsEmpty());
}

TEST_F(LayerListTest, HasEqualPatternsOnceUnderTheFirstName) {
  const std::string first = file("b.smtx", diagonal);
  const std::string other = file("c.smtx", upper);
  const LayerList list = read_layers({first, other, file("a.smtx", diagonal), first});
  ASSERT_THAT(list.layers, SizeIs(2));
  EXPECT_EQ(list.layers[0].file, first);
  EXPECT_EQ(list.layers[1].file, other);
  EXPECT_THAT(list.problems, IsEmpty());
}

TEST_F(LayerListTest, SaysWhyAFileHasNoLayer) {
  const std::string good = file("good.smtx", upper);
  const LayerList zeros = read_layers({file("zeros.smtx", empty), good});
  EXPECT_THAT(zeros.layers, SizeIs(1));
  EXPECT_THAT(zeros.notes, ElementsAre(HasSubstr("zeros.smtx: has no non-zeros")));
  EXPECT_THAT(zeros.problems, IsEmpty());
  const LayerList damaged = read_layers({file("damaged.smtx", "2, 2"), good, path("missing.smtx")});
  EXPECT_THAT(damaged.layers, SizeIs(1));
  EXPECT_THAT(damaged.problems, ElementsAre(HasSubstr("damaged.smtx"), HasSubstr("missing.smtx")));
  EXPECT_THAT(damaged.notes, IsEmpty());
}

TEST_F(LayerListTest, OfNoFilesIsEmpty) {
  EXPECT_THAT(read_layers({}).layers, IsEmpty());
  EXPECT_THAT(read_layers({}).problems, IsEmpty());
  EXPECT_THAT(read_layers({}).notes, IsEmpty());
}

}  // namespace
}  // namespace esc::tuning
