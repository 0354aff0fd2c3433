// SPDX-License-Identifier: Apache-2.0
// A user's schedule database: how it is read, and what it counts for beside the shipped one.

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "generator/schedule/database_files.h"
#include "generator/schedule/scheduler.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/temporary_folder.h"
#include "tests/support/refusals.h"
#include "tests/unit/tuner/mixed_database.h"

namespace esc {
namespace {

using testing::_;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

/// A database of another device with one class, of 2048 rows, and one layer.
ScheduleDatabase mine() {
  LayerClass layers = small_even;
  layers.rows = 22;
  return {{.key = {80, 108, 40ULL << 20}, .device = "My GPU"},
          {.candidates = {{32, 0, schedule("panel:warps=2")}},
           .classes = {{layers, 1, {}, {}, {{0, false}}}},
           .layers = {{32, std::string(64, 'b'), schedule("panel:warps=1"), 1.05, {}, {}}},
           .defaults = {{32, schedule("panel:ufi=4,warps=8"), {}}}}};
}

/// Where the best schedule is from by `mine` laid over `mixed`.
std::string source_of(const LayerShape& shape) {
  const ScheduleDatabase above = mine();
  const ScheduleDatabase below = mixed();
  return ranked_schedules(shape, std::array{&above, &below}).front().source;
}

TEST(LaidOver, TheFirstDatabaseCountsForWhatItHas) {
  LayerShape layer = layer_of(32, 512);
  layer.pattern = std::string(64, 'b');
  EXPECT_THAT(source_of(layer), AllOf(HasSubstr("My GPU"), EndsWith("this very layer")));
  EXPECT_THAT(source_of(layer_of(32, 2048)), AllOf(HasSubstr("My GPU"), HasSubstr("the class of 32")));
  EXPECT_THAT(source_of(layer_of(32, 2900)), AllOf(HasSubstr("My GPU"), HasSubstr("the nearest class of 32")))
      << "half an octave from either's nearest class";
}

TEST(LaidOver, TheNextOneCountsForWhatTheFirstLacks) {
  EXPECT_THAT(source_of(layer_of(32, 512)), AllOf(HasSubstr("NVIDIA H200"), HasSubstr("the class of 32")));
  LayerShape layer = layer_of(32, 512);
  layer.pattern = digits;
  EXPECT_THAT(source_of(layer), AllOf(HasSubstr("NVIDIA H200"), EndsWith("this very layer")));
  EXPECT_THAT(source_of(layer_of(128, 512)), AllOf(HasSubstr("NVIDIA H200"), HasSubstr("128 columns of B")))
      << "a bCol that the first database has not";
  EXPECT_THAT(source_of(layer_of(32, 512LL << 20)), StartsWith("model: ")) << "far from the classes of both";
}

/// Streams have all windows of all panels, whatever is in them: at 90 % zeros three times the bytes of CSR.
TEST(LookUp, TakesStreamsLastWhereTheyFillMemoryWithZeros) {
  const Schedule streamed = schedule("stream:columns=32,panels=4,warps=2,stages=2");
  const Schedule panels = schedule("panel:ufi=1,warps=8");
  const auto first = [&](std::int64_t rows, std::int64_t columns, double density) {
    const auto nonzeros = static_cast<std::int64_t>(density * static_cast<double>(rows * columns));
    const LayerShape layer{
        .bcol = 32, .rows = rows, .columns = columns, .nonzeros = nonzeros, .longest_row = nonzeros / rows + 1};
    const ScheduleDatabase database(mixed().head(),
                                    {.candidates = {{32, 0, streamed}, {32, 1, panels}},
                                     .classes = {{class_of(layer), 1, {}, {}, {{0, false}, {5, false}}}}});
    return ranked_schedules(layer, std::array{&database}).front().schedule;
  };
  EXPECT_EQ(first(1024, 1024, 0.3), streamed);
  EXPECT_EQ(first(1024, 1024, 0.1), panels);
  EXPECT_EQ(first(256, 256, 0.1), streamed) << "0.2 MB";
}

TEST(LaidOver, RanksEachScheduleOnce) {
  const ScheduleDatabase above = mine();
  const ScheduleDatabase below = mixed();
  std::vector<std::string> schedules;
  for (const ScheduleChoice& choice : ranked_schedules(layer_of(32, 512), std::array{&above, &below})) {
    schedules.push_back(print(choice.schedule));
  }
  ASSERT_GT(schedules.size(), 3U);
  EXPECT_THAT(schedules[0], HasSubstr("split_k=4"));
  EXPECT_THAT(schedules[1], HasSubstr("split_k=1,"));
  EXPECT_THAT(schedules[2], StartsWith("rows:"));
  std::ranges::sort(schedules);
  EXPECT_TRUE(std::ranges::adjacent_find(schedules) == schedules.end());
}

class DatabaseFiles : public testing::Test {
 protected:
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  std::string refusal(const std::string& name) const {
    return test::refusal_of([&] { read_measurements(path(name)); });
  }

  TemporaryFolder folder_;
};

TEST_F(DatabaseFiles, AreAFileOrAFolderOfThem) {
  for (const ScheduleDatabase& database : {mine(), mixed()}) {
    write_file_whole(path(file_name(database.head())), print(database));
  }
  write_file_whole(path("README.txt"), "no database");
  EXPECT_EQ(read_measurements(path("")).databases, (std::vector{mine(), mixed()}));
  EXPECT_EQ(read_measurements(path(file_name(mixed().head()))).databases, std::vector{mixed()});
}

TEST_F(DatabaseFiles, AreRefusedWithTheirPlace) {
  EXPECT_THAT(refusal("none"), HasSubstr("none: cannot be read"));
  EXPECT_THAT(refusal(""),
              HasSubstr("has no schedule database in it, such as sm90-132sm-60mib_f32.txt, no corrections and"));
  write_file_whole(path("sm80-108sm-40mib_f32.txt"), "class 1");
  EXPECT_THAT(refusal(""), HasSubstr("sm80-108sm-40mib_f32.txt:1: ends too early"));
}

const std::string device_text =
    "name mine\nproduct My GPU\nkernels measured\ncapability 80 measured here\nmultiprocessors 50 measured here\n"
    "l2_mebibytes 20 measured here\nmemory_gigabytes 900 measured here\n";
const std::string corrections_text =
    "device sm80-50sm-20mib\nschedule 0 panel:warps=2\nproduct f32 kn 32 1 512 512 26214 80 200 aa 0:12.5\n";

TEST_F(DatabaseFiles, AreToldApartByTheirContent) {
  write_file_whole(path("gpu.txt"), device_text);
  write_file_whole(path("what_it_took.txt"), corrections_text);
  write_file_whole(path("any.txt"), print(mine()));
  write_file_whole(path("notes.txt"), "what I did\n");
  const UserMeasurements found = read_measurements(path(""));
  EXPECT_EQ(found.databases, std::vector{mine()});
  ASSERT_THAT(found.devices, testing::SizeIs(1));
  EXPECT_EQ(found.devices.front().name, "mine");
  ASSERT_THAT(found.corrections, testing::SizeIs(1));
  const DeviceKey key{80, 50, 20ULL << 20};
  EXPECT_EQ(found.corrections.front().key, key);
  EXPECT_EQ(device_of_gpu("Mine", found.catalog->devices()).key, key);
  EXPECT_TRUE(found.catalog->has_measurements_of(key));
  EXPECT_FALSE(shipped_catalog().has_measurements_of(key));
  EXPECT_TRUE(read_measurements(path("gpu.txt")).corrections.empty()) << "a file is that file alone";
}

TEST_F(DatabaseFiles, AreMergedByDevice) {
  write_file_whole(path("a_corrections.txt"), corrections_text);
  write_file_whole(path("b_corrections.txt"),
                   "device sm80-50sm-20mib\nschedule 0 panel:warps=2\nschedule 1 panel:warps=4\n"
                   "product f32 kn 32 1 512 512 26214 80 200 aa 0:11.5 1:9\n"
                   "product f32 kn 64 1 512 512 26214 80 200 aa 0:20\n");
  const UserMeasurements found = read_measurements(path(""));
  ASSERT_THAT(found.corrections, testing::SizeIs(1));
  const std::vector<TimedProduct>& products = found.corrections.front().products;
  ASSERT_THAT(products, testing::SizeIs(2));
  EXPECT_THAT(products.front().schedules,
              ElementsAre(TimedSchedule{schedule("panel:warps=4"), 9}, TimedSchedule{schedule("panel:warps=2"), 11.5}));
}

TEST_F(DatabaseFiles, OfDevicesAndCorrectionsAreRefusedWithTheirPlace) {
  const auto refusal_of_text = [&](const std::string& name, const std::string& text) {
    write_file_whole(path(name), text);
    std::string reason = refusal(name);
    std::filesystem::remove(path(name));
    return reason;
  };
  EXPECT_THAT(refusal_of_text("gpu.txt", device_text + "wheels 4 measured here\n"),
              HasSubstr("gpu.txt:8: wheels is no figure of a device"));
  EXPECT_THAT(refusal_of_text("gpu.txt", "name h200\nproduct Other\ncapability 80 measured here\n"),
              HasSubstr("gpu.txt: has the name h200 for sm80-0sm-0mib, which is that of sm90-132sm-60mib"));
  EXPECT_THAT(refusal_of_text("gpu.txt", "name Big GPU\nproduct Other\ncapability 80 measured here\n"),
              HasSubstr("gpu.txt:1: 'Big GPU' is no name of a GPU"));
  const auto of_corrections = [&](const std::string& text) { return refusal_of_text("x_corrections.txt", text); };
  EXPECT_THAT(of_corrections("schedule 0 panel:warps=2\n"), HasSubstr("x_corrections.txt: does not say its device"));
  EXPECT_THAT(of_corrections(corrections_text + "schedule 0 panel:warps=4\n"),
              HasSubstr("x_corrections.txt:4: is a second schedule 0"));
  EXPECT_THAT(of_corrections(corrections_text + "schedule 1 panel:wheels=4\n"), HasSubstr("x_corrections.txt:4: "));
  EXPECT_THAT(of_corrections(corrections_text + "product f32 kn 32 1 512 512 26214 80 200 aa 7:12.5\n"),
              HasSubstr("x_corrections.txt:4: there is no schedule 7 before it"));
  EXPECT_THAT(of_corrections(corrections_text + "product f32 kn 32 1 2 2 5 2 0 aa 0:12.5\n"),
              HasSubstr("x_corrections.txt:4: has more non-zeros than elements"));
  write_file_whole(path("a.txt"), device_text);
  write_file_whole(path("b.txt"), device_text);
  EXPECT_THAT(refusal(""), HasSubstr("b.txt: is a second device mine"));
}

}  // namespace
}  // namespace esc
