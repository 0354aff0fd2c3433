// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <random>
#include <sstream>

#include "generator/schedule/class_interpolation.h"
#include "generator/schedule/fitted_schedule.h"
#include "generator/schedule/schedule_database.h"
#include "generator/schedule/scheduler.h"
#include "generator/schedule/target.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "tests/support/refusals.h"
#include "tests/unit/tuner/mixed_database.h"

namespace esc {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr const char* head = "device sm90-132sm-60mib NVIDIA H200\ndtype f32\nevidence measured\n";

std::string refusal_of(const std::string& text) {
  return test::refusal_of([&] { ScheduleDatabase::parse(text, "file.txt"); });
}

TEST(Database, RoundTrips) {
  const ScheduleDatabase database = mixed();
  const std::string text = print(database);
  EXPECT_EQ(ScheduleDatabase::parse(text, "file.txt"), database);
  EXPECT_EQ(print(ScheduleDatabase::parse(text, "file.txt")), text);
  EXPECT_THAT(text, HasSubstr("\nclass 32 18 18 12 13 2 2.500 1.750 0.0 12.5 ~40.0\n"));
  EXPECT_THAT(text, HasSubstr("\nlibrary 32 18 18 12 13 7.500\n"));
  EXPECT_THAT(text, HasSubstr("\ncandidate 32 2 rows:tile=1x32,thread=1x4,unroll_k=4,task=64,"));
  EXPECT_EQ(file_name(database.head()), "sm90-132sm-60mib_f32.txt");
}

/// One of another layout of the same device.
ScheduleDatabase transposed() {
  DatabaseHead of_nk = mixed().head();
  of_nk.layout = "nk";
  return {of_nk,
          {.candidates = {{32, 0, schedule("panel:ufi=4,columns=8,vector=8,groups=32,warps=1,panels=4,stage=on")}},
           .classes = {{small_even, 3, 1.5, 0.9, {{0, false}}}},
           .layers = {},
           .defaults = {}}};
}

TEST(Database, KeepsLayoutsApartInOneFile) {
  const std::string text = print(std::vector{transposed(), mixed()});
  EXPECT_EQ(text.find(" nk "), text.find("candidate nk 32 0 panel:") + 9) << "kn comes first, and names no layout";
  EXPECT_THAT(text, HasSubstr("\nclass nk 32 18 18 12 13 3 1.500 0.900 0.0\n"));
  EXPECT_EQ(databases_in(text, "file.txt"), (std::vector{mixed(), transposed()}));
  EXPECT_EQ(print(databases_in(text, "file.txt")), text);
  EXPECT_EQ(ScheduleDatabase::parse(text, "file.txt"), mixed());
  EXPECT_EQ(find_nearest(databases_in(text, "file.txt"), {}, "n_k_n_n.n_m_n_n"), nullptr);
}

TEST(Database, OfAnotherLayoutAloneHasAnEmptyOneForKn) {
  const std::vector<ScheduleDatabase> databases = databases_in(print(transposed()), "file.txt");
  ASSERT_THAT(databases, SizeIs(2));
  EXPECT_THAT(databases[0].classes(), IsEmpty());
  EXPECT_EQ(databases[1], transposed());
}

TEST(Database, RefusesWhatIsNoLayout) {
  const std::string beginning = head;
  EXPECT_THAT(refusal_of(beginning + "default kn 32 4-7-1-32 1 - - - -\n"), HasSubstr("meant without a name"));
  EXPECT_THAT(refusal_of(beginning + "default n-k 32 4-7-1-32 1 - - - -\n"),
              HasSubstr("'n-k' where the name of a layout is needed"));
  EXPECT_THAT(refusal_of(beginning + "default nk 4-7-1-32 1 - - - -\n"), HasSubstr("whole number"));
  const std::string entry = "default nk 32 4-7-1-32 1 - - - -\n";
  EXPECT_THAT(refusal_of(beginning + entry + entry), HasSubstr("a second entry for bCol 32 in layout nk"));
  EXPECT_EQ(refusal_of(beginning + entry + "default 32 4-7-1-32 1 - - - -\n"), "accepted");
  EXPECT_THAT(refusal_of(beginning + "candidate 32 0 panel:columns=8,vector=8,groups=32\n"), HasSubstr("thread N=8"))
      << "of kn";
  EXPECT_EQ(refusal_of(beginning + "candidate nk 32 0 panel:columns=8,vector=8,groups=32\n"), "accepted");
}

TEST(Database, OfTheLayersLayoutIsAskedAndThenTheModel) {
  LayerShape layer = layer_of(32, 512);
  layer.layout = "nk";
  layer.contiguous = false;
  const std::vector<ScheduleDatabase> both{mixed(), transposed()};
  const auto found = databases_for(layer, {}, {&both});
  ASSERT_THAT(found, SizeIs(1));
  const std::vector<ScheduleChoice> ranking = ranked_schedules(layer, found);
  EXPECT_EQ(ranking.front().schedule, transposed().candidates().front().schedule);
  EXPECT_THAT(ranking.front().source, HasSubstr("measured"));
  EXPECT_THAT(ranking[1].source, StartsWith("model: "));

  const std::vector<ScheduleDatabase> none{mixed()};
  EXPECT_THAT(databases_for(layer, {}, {&none}), IsEmpty()) << "kn says nothing of columns that are apart";
  EXPECT_THAT(ranked_schedules(layer, databases_for(layer, {}, {&none})).front().source, StartsWith("model: "));
  layer.contiguous = true;
  EXPECT_THAT(databases_for(layer, {}, {&none}), SizeIs(1));
}

TEST(Database, WithoutEntriesRoundTripsToo) {
  const ScheduleDatabase nothing({.key = {80, 0, 0}, .device = "some GPU", .origin = DatabaseOrigin::published}, {});
  EXPECT_EQ(ScheduleDatabase::parse(print(nothing), "file.txt"), nothing);
}

TEST(Database, LinesMayComeInAnyOrder) {
  std::istringstream stream(print(mixed()));
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::ranges::shuffle(lines, random);
    std::string text;
    for (const std::string& line : lines) {
      text += line + "\r\n\n";
    }
    ASSERT_EQ(ScheduleDatabase::parse(text, "file.txt"), mixed());
  }
}

TEST(Database, ShippedFilesHaveTheirNamesAndAreCanonical) {
  const std::filesystem::path folder = std::filesystem::path(ESC_SOURCE_DIR) / "generator/schedule";
  std::map<std::string, std::vector<ScheduleDatabase>> files;
  for (const ScheduleDatabase& database : shipped_databases()) {
    files[file_name(database.head())].push_back(database);
  }
  for (const auto& [name, databases] : files) {
    const std::string text = read_file(folder / name);
    EXPECT_EQ(databases_in(text, "file"), databases);
    if (databases.front().head().origin == DatabaseOrigin::measured) {
      EXPECT_EQ(print(databases), text) << "write it with esctune publish";
    }
  }
  EXPECT_FALSE(shipped_database().classes().empty());
  EXPECT_EQ(shipped_database().head().device, "NVIDIA H200");
}

TEST(Database, RefusesLinesWithTheirPlace) {
  const std::string candidate = "candidate 32 0 panel:warps=4\n";
  const std::string good = "class 32 18 18 12 13 2 - - 0.0";
  ASSERT_EQ(refusal_of(head + candidate + good), "accepted");
  ASSERT_EQ(refusal_of(head + good + "\n" + candidate), "accepted");
  const std::vector<std::pair<std::string, std::string>> refused{
      {"class 32 18 18 12 13 2 -", "file.txt:5: ends too early"},
      {good + " 1.0", "file.txt:5: has 2 losses for the 1 candidates at bCol 32"},
      {"class 32 18 18 12 13 2 - -", "file.txt:5: has 0 losses"},
      {good + "\nlibrary 32 18 18 12 13 -", "file.txt:6: has no time"},
      {good + "\nlibrary 32 18 18 12 13 0", "has '0' where a time in microseconds, above 0,"},
      {good + "\nlibrary 32 18 18 12 13 1.5 1", "file.txt:6: goes on with '1'"},
      {good + "\nlibrary 32 18 18 12 14 1.5", "file.txt:6: has a time for the class of 32 columns of B"},
      {good + "\nlibrary 32 18 18 12 13 1.5\nlibrary 32 18 18 12 13 1.5",
       "is a second entry for the time of a library on"},
      {"class 64 18 18 12 13 2 - - 0.0", "has 1 losses for the 0 candidates at bCol 64"},
      {"class 64 18 18 12 13 2 - -", "has 0 losses for the 0 candidates at bCol 64"},
      {"class 32 18 18 12 13 0 - - 0.0", "has '0' where a whole number from 1"},
      {"class 32 127 18 12 13 2 - - 0.0", "has '127' where a whole number from -126 to 126 is needed"},
      {"class 32 18 18 12 13 2 - - -1", "has '-1' where a loss in per cent"},
      {"class 32 18 18 12 13 2 - - ~", "has '~' where a loss in per cent"},
      {"class 32 18 18 12 13 2 - - inf", "has 'inf' where a loss in per cent"},
      {"class 32 18 18 12 13 2 - - 1.0x", "has '1.0x' where a loss in per cent"},
      {"class 32 18 18 12 13 2 nan - 0.0", "has 'nan' where a ratio of times"},
      {"class 32 18 18 12 13 2 0 - 0.0", "has '0' where a ratio of times"},
      {"candidate 32 0 panel:warps=2",
       "file.txt:5: is a second entry for candidate 0 at bCol 32; the first one is in line 4"},
      {"candidate 32 2 panel:warps=2", "file.txt: has 2 candidates at bCol 32, but no number 1"},
      {"candidate 32 1 panel:warps=5", "split_k=5 is not a power of two"},
      {"candidate 2 0 panel:columns=32", "file.txt:5: panel:"},
      {"candidate 32 1 panel:warps=2 more", "file.txt:5: goes on with 'more'"},
      {"default 0 panel:warps=4 2 1.0 1.0 - -", "has '0' where a whole number from 1"},
      {"default 2 panel:columns=32 2 1.0 1.0 - -", "file.txt:5: panel:"},
      {"layer 32 0123456789abcde panel:warps=4 1.0 - -", "where 16 to 64 lower-case hexadecimal digits are needed"},
      {"layer 32 0123456789ABCDEF panel:warps=4 1.0 - -", "where 16 to 64 lower-case hexadecimal digits are needed"},
      {"32 18 18 12 13", "begins with '32'"},
      {"device sm90-132sm-60mib NVIDIA H100",
       "file.txt:5: is a second entry for the device; the first one is in line 1"},
      {good + "\n" + good, "file.txt:6: is a second entry for the class of 32 columns of B, about 512 x 512"},
  };
  for (const auto& [line, words] : refused) {
    EXPECT_THAT(refusal_of(head + candidate + line), AllOf(StartsWith("file.txt:"), HasSubstr(words))) << line;
  }
}

TEST(Database, RefusesHeadsThatAreNotWhole) {
  EXPECT_THAT(refusal_of(""), HasSubstr("does not say the device"));
  EXPECT_THAT(refusal_of("device sm90-132sm-60mib A\ndtype f32\n"), HasSubstr("does not say the evidence"));
  EXPECT_THAT(refusal_of("device sm90-132sm-60mib\n"), HasSubstr("file.txt:1: does not name the device"));
  EXPECT_THAT(refusal_of("device h200 A\n"), HasSubstr("file.txt:1: h200 is not the key of a device"));
  EXPECT_THAT(refusal_of("dtype f8\n"), HasSubstr("file.txt:1: has 'f8'"));
  EXPECT_THAT(refusal_of("evidence guessed\n"), HasSubstr("neither measured nor published"));
}

// Whoever has made the head: what is written is what is read again.
TEST(Database, PrintsNoDeviceThatWouldBeMoreThanItsLine) {
  const std::string text = print(
      ScheduleDatabase({.key = {90, 132, std::uint64_t{60} << 20U}, .device = "H200\nevidence published\u202e"}, {}));
  EXPECT_THAT(text, HasSubstr("device sm90-132sm-60mib H200?evidence published?\ndtype f32\n"));
  EXPECT_EQ(ScheduleDatabase::parse(text, "file.txt").head().device, "H200?evidence published?");
}

TEST(Database, ReadsTheDeviceThatItHasPrinted) {
  for (const auto& [device, name] :
       {std::pair{"  H200", "H200"}, {"H200 ", "H200 "}, {" ", "unnamed device"}, {"", "unnamed device"}}) {
    const std::string text =
        print(ScheduleDatabase({.key = {90, 132, std::uint64_t{60} << 20U}, .device = device}, {}));
    EXPECT_EQ(ScheduleDatabase::parse(text, "file.txt").head().device, name);
  }
}

TEST(Database, ReadsTheSmallRatiosThatItHasPrinted) {
  const std::string beginning = "device sm90-132sm-60mib A\ndtype f32\nevidence measured\n";
  const auto database =
      ScheduleDatabase::parse(beginning + "default 32 4-7-1-32 1 0.0004 0.001 5e-324 1000\n", "file.txt");
  const std::string text = print(database);
  EXPECT_THAT(text, HasSubstr(" 1 4.00e-04 0.001 4.94e-324 1000.000\n"));
  EXPECT_EQ(print(ScheduleDatabase::parse(text, "file.txt")), text);
}

TEST(Database, RefusesBytesThatAreNotUtf8) {
  const auto refusal_of_device = [](const std::string& name) {
    return refusal_of("# a comment\ndevice sm90-132sm-60mib " + name + "\ndtype f32\nevidence measured\n");
  };
  // Characters of every length, many of them the last or the first that show.
  for (const char* name : {"\x7e", "\xc2\xa0", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xef\xa4\x80",
                           "\xef\xbf\xbd", "\xf0\x90\x80\x80", "\xf0\xaf\xa8\x9d", "GeForce \xc3\xa9t\xc3\xa9"}) {
    EXPECT_EQ(refusal_of_device(name), "accepted") << name;
  }
  // Latin-1, a character that ends too early, a byte of none, too many bytes, a surrogate, and one beyond the last.
  for (const char* name : {"caf\xe9", "\xe9t\xe9", "\xc3", "\xe2\x82", "\xe2\x82x", "\xf0\x90\x80", "\x80", "\xbf",
                           "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf",
                           "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xff"}) {
    EXPECT_EQ(
        refusal_of_device(name),
        "file.txt:2: has bytes that are not UTF-8, or characters that do not show; save the file as UTF-8 without them")
        << name;
  }
  // Characters that steer a terminal, end a line for some or turn the direction of reading.
  for (const char* name : {"\x1b[2J", "\x7f", "\u0085", "\u2028", "\u202e", "\u2066", "\u200f"}) {
    EXPECT_THAT(refusal_of_device(name), HasSubstr("characters that do not show")) << name;
  }
  EXPECT_THAT(refusal_of("\xe9\n"), StartsWith("file.txt:1: has bytes that are not UTF-8"));
  EXPECT_EQ(refusal_of("# caf\xe9\n" + std::string(head)), "accepted") << "nobody reads a comment";
}

TEST(LookUp, TakesTheVeryLayerFirst) {
  const LayerShape layer{.bcol = 32, .rows = 512, .columns = 512, .nonzeros = 26214, .pattern = digits};
  const ScheduleChoice choice = choose_schedule(layer, mixed());
  EXPECT_EQ(choice.schedule, schedule("panel:warps=16"));
  EXPECT_EQ(choice.source, "database: one NVIDIA H200 (sm90-132sm-60mib, measured), this very layer");
  EXPECT_THAT(choice.notes,
              ElementsAre(HasSubstr("cuBLAS or cuSPARSE in float32 was 1.11 times as fast as this kernel")));
  EXPECT_EQ(mixed().layer({.bcol = 64, .pattern = digits}), nullptr) << "another bCol";
  EXPECT_EQ(mixed().layer({.bcol = 32, .pattern = "aaaa"}), nullptr) << "a pattern that is cut off";
  EXPECT_EQ(mixed().layer({.bcol = 32}), nullptr);
}

TEST(LookUp, TakesTheClassThenTheNearestOne) {
  const ScheduleChoice own = choose_schedule(layer_of(32, 512), mixed());
  EXPECT_EQ(own.schedule, schedule("panel:warps=4"));
  EXPECT_EQ(
      own.source,
      "database: one NVIDIA H200 (sm90-132sm-60mib, measured), the class of 32 columns of B, about 512 x 512, rows "
      "of 64 non-zeros on average and 91 at most, interpolated between 2 classes");
  EXPECT_THAT(own.notes, IsEmpty());
  const ScheduleChoice near = choose_schedule(layer_of(32, 6000), mixed());
  EXPECT_EQ(near.schedule, schedule("panel:warps=1,panels=4"));
  EXPECT_THAT(near.source, HasSubstr("the nearest class of 32 columns of B, about 4096 x 512"));
}

TEST(LookUp, TakesTheNearestBColAndNothingOfOthers) {
  EXPECT_EQ(mixed().nearest_bcol(32), 32);
  EXPECT_EQ(mixed().nearest_bcol(64), 32) << "of two that are equally near, the lesser one";
  EXPECT_EQ(mixed().nearest_bcol(65), 128);
  EXPECT_EQ(mixed().nearest_bcol(1), 32);
  EXPECT_FALSE(ScheduleDatabase(mixed().head(), {}).nearest_bcol(32).has_value());
  const ScheduleChoice choice = choose_schedule(layer_of(201, 512), mixed());
  EXPECT_EQ(choice.schedule, fitted(schedule("panel:warps=2"), 201));
  EXPECT_THAT(choice.source, AllOf(HasSubstr("the nearest class of 128 columns of B"), EndsWith("91 at most")));
}

TEST(LookUp, SaysWhenALibraryIsFaster) {
  const ScheduleChoice choice = choose_schedule(layer_of(32, 4096), mixed());
  EXPECT_THAT(choice.notes,
              ElementsAre(AllOf(StartsWith("in the class of 32"), HasSubstr("in float32 was 1.25 times as fast")),
                          HasSubstr("TF32 was 2.00 times as fast")));
}

TEST(LookUp, SaysNothingOfLibrariesByAClassFarAway) {
  // The class of 4096 rows, in which both libraries were faster, is 0.7 and 2 octaves away.
  EXPECT_THAT(choose_schedule(layer_of(32, 6600), mixed()).notes, SizeIs(2));
  const ScheduleChoice far = choose_schedule(layer_of(32, 4096 * 4), mixed());
  EXPECT_THAT(far.source, StartsWith("model: "));
  EXPECT_THAT(far.notes, IsEmpty());
  LayerShape more_columns_of_b = layer_of(32, 4096);
  more_columns_of_b.bcol = 8;
  EXPECT_THAT(choose_schedule(more_columns_of_b, mixed()).notes, IsEmpty()) << "two octaves in bCol";
}

TEST(LookUp, ComparesLibrariesWithTheScheduleThatItGives) {
  // The libraries are 10 % slower than the best schedule of the class, which 20 classes around keep from being taken.
  DatabaseEntries entries{.candidates = {{32, 0, schedule("panel:warps=4")}, {32, 1, schedule("panel:warps=1")}}};
  LayerClass layers = small_even;
  entries.classes.push_back({layers, 1, 1.1, {}, {{0, false}, {21, false}}});
  for (int number = 0; number < 20; ++number) {
    ++(number % 2 == 0 ? layers.rows : layers.columns);
    entries.classes.push_back({layers, 50, 3.0, {}, {{200, false}, {0, false}}});
  }
  const ScheduleChoice choice = choose_schedule(layer_of(32, 512), ScheduleDatabase(mixed().head(), entries));
  ASSERT_EQ(choice.schedule, schedule("panel:warps=1"));
  EXPECT_THAT(choice.notes, ElementsAre(HasSubstr("in float32 was 1.10 times as fast")));
}

TEST(LookUp, ExpectsTheTimeOfTheLibraryAndOfTheSchedule) {
  const auto measured_of = [](LayerShape shape) { return *choose_schedule(shape, mixed()).measured; };
  EXPECT_EQ(measured_of(layer_of(32, 512)).exact_microseconds, 7.5);
  EXPECT_DOUBLE_EQ(*measured_of(layer_of(32, 512)).expected_microseconds(), 7.5 / 2.5);
  EXPECT_EQ(describe_speed(measured_of(layer_of(32, 512))),
            "about 2.50 x the faster one of cuBLAS and cuSPARSE, 3.0 us in place of 7.5");
  EXPECT_EQ(measured_of(layer_of(32, 900)).exact_microseconds, 7.5) << "of a class less than an octave away";
  EXPECT_EQ(measured_of(layer_of(32, 4096)).exact_microseconds, std::nullopt) << "of whose class none was kept";
  EXPECT_EQ(describe_speed(measured_of(layer_of(32, 4096))), "about 0.80 x the faster one of cuBLAS and cuSPARSE");
  LayerShape known = layer_of(32, 512);
  known.pattern = digits;
  EXPECT_DOUBLE_EQ(*measured_of(known).expected_microseconds(), 7.5 / 0.9) << "by its own ratio";
  const ScheduleChoice other = choose_schedule(layer_of(48, 512), mixed());
  EXPECT_EQ(other.measured, std::nullopt) << "of other columns of B";
  EXPECT_EQ(other.not_measured, "what is known is of 32 columns of B");
  LayerShape blocks = layer_of(32, 512);
  blocks.scattered = false;
  EXPECT_EQ(choose_schedule(blocks, mixed()).measured, std::nullopt) << "of zeros at random";
  blocks.pattern = digits;
  EXPECT_DOUBLE_EQ(*measured_of(blocks).expected_microseconds(), 7.5 / 0.9) << "measured itself";
}

TEST(LookUp, LeavesLayersThatResembleNoClassToTheModel) {
  LayerShape power_law = layer_of(32, 512, 512);
  power_law.row_variation = 3;
  EXPECT_THAT(choose_schedule(power_law, mixed()).source, StartsWith("model: ")) << "2.5 octaves in the longest row";
  EXPECT_THAT(choose_schedule(layer_of(32, 512LL << 10), mixed()).source, StartsWith("model: ")) << "7 octaves in rows";
}

TEST(Classes, HaveTheirMiddles) {
  EXPECT_EQ(class_of(layer_of(32, 512)), small_even);
  EXPECT_EQ(class_distance(small_even, small_even), 0);
  EXPECT_NEAR(class_distance(layer_of(32, 512), small_even), 0.01, 0.01);
  LayerShape other = layer_of(1, 1024);
  other.columns = 2048;
  EXPECT_NEAR(class_distance(other, small_even), 1 + 0.5 * 2, 0.01) << "rows and columns; bCol does not count";
  const LayerClass empty = class_of({.bcol = 32, .rows = 1024, .columns = 64});
  EXPECT_EQ(empty, (LayerClass{32, 20, 12, -20, 0})) << "as if it had one non-zero";
  EXPECT_EQ(class_of({.bcol = 32, .rows = 8, .columns = 64, .nonzeros = 64}).longest_row, 6) << "no less than the mean";
  EXPECT_EQ(describe(empty), "32 columns of B, about 1024 x 64, rows of 0.00098 non-zeros on average and 1 at most");
}

/// A database of two candidates and these losses of theirs, by the class's rows; each class of so many matrices.
struct RowLosses {
  int rows;
  int matrices;
  double first;
  double second;
};
ScheduleDatabase by_rows(const std::vector<RowLosses>& losses) {
  DatabaseEntries entries{.candidates = {{32, 0, schedule("panel:warps=4")}, {32, 1, schedule("panel:warps=1")}}};
  for (const RowLosses& one : losses) {
    LayerClass layers = small_even;
    layers.rows = one.rows;
    entries.classes.push_back({layers, one.matrices, {}, {}, {{one.first, false}, {one.second, false}}});
  }
  return {mixed().head(), entries};
}

TEST(Interpolation, GivesTheMeasurementsWhereTheyAre) {
  const ScheduleDatabase database = by_rows({{18, 1000, 0, 30}, {30, 1000, 50, 0}});
  const auto low = interpolate_classes(database, layer_of(32, 512));
  ASSERT_TRUE(low.has_value());
  EXPECT_TRUE(low->own_class);
  EXPECT_EQ(low->classes, 2);
  EXPECT_EQ(low->ranking[0].candidate->number, 0);
  EXPECT_NEAR(low->ranking[0].loss, 0, 0.002);
  EXPECT_NEAR(low->ranking[1].loss, std::log(1.3), 0.002);
  EXPECT_EQ(interpolate_classes(database, layer_of(32, 32768))->ranking[0].candidate->number, 1);
}

TEST(Interpolation, GoesFromOneToTheOtherAndToTheMeanFarAway) {
  const ScheduleDatabase database = by_rows({{18, 1000, 0, 30}, {22, 1000, 50, 0}});
  double last = -1;
  for (int rows = 512; rows <= 2048; rows += 128) {
    const auto here = interpolate_classes(database, layer_of(32, rows));
    const double first = here->ranking[here->ranking[0].candidate->number == 0 ? 0 : 1].loss;
    EXPECT_GT(first, last) << rows;
    last = first;
  }
  const auto far = interpolate_classes(database, layer_of(32, 1LL << 40));
  EXPECT_EQ(far->ranking[0].candidate->number, 1);
  EXPECT_NEAR(far->ranking[0].loss, std::log(1.3) / 2, 1e-3);
  EXPECT_NEAR(far->ranking[1].loss, std::log(1.5) / 2, 1e-3);
}

TEST(Interpolation, TrustsManyMatricesMoreThanOne) {
  const auto best_between = [](int matrices) {
    const ScheduleDatabase database = by_rows({{17, 50, 10, 0}, {18, matrices, 0, 4}, {19, 50, 10, 0}});
    return interpolate_classes(database, layer_of(32, 512))->ranking[0].candidate->number;
  };
  EXPECT_EQ(best_between(1), 1) << "a lucky one among neighbours";
  EXPECT_EQ(best_between(50), 0);
}

TEST(Interpolation, CountsAnyNumberOfMatrices) {
  constexpr int most = 0x7fffffff;
  const ScheduleDatabase database = by_rows({{18, most, 0, 30}, {22, most, 50, 0}});
  const auto far = interpolate_classes(database, layer_of(32, 1LL << 40));
  EXPECT_EQ(far->ranking[0].candidate->number, 1);
  EXPECT_NEAR(far->ranking[0].loss, std::log(1.3) / 2, 1e-3);
}

TEST(Interpolation, TakesTheFirstOfEquals) {
  const ScheduleDatabase database = by_rows({{18, 1, 5, 5}});
  const auto result = interpolate_classes(database, layer_of(32, 600));
  EXPECT_EQ(result->ranking[0].candidate->number, 0);
  EXPECT_EQ(result->classes, 1);
  const ScheduleDatabase nothing(mixed().head(), {});
  EXPECT_FALSE(interpolate_classes(nothing, layer_of(32, 600)).has_value());
}

TEST(LookUp, OfNothingIsTheModelAndTheFamilysDefault) {
  const ScheduleDatabase nothing(mixed().head(), {});
  const std::array databases{&nothing};
  const std::vector<ScheduleChoice> ranking = ranked_schedules({32, 512, 512, 9999}, databases);
  EXPECT_THAT(ranking.front().source, StartsWith("model: expected to be the fastest"));
  EXPECT_THAT(ranking, testing::Contains(testing::Field(&ScheduleChoice::schedule, fitted(PanelSchedule{}, 32))));
}

TEST(LookUp, BringsEveryFamilyToEveryBCol) {
  for (const char* text : {"panel:columns=128,vector=4,groups=1,warps=1,panels=16", "rows:columns=128,vector=4",
                           "4-7-4-256", "panel:ufi=8,columns=128,warps=8,groups=1,ufk=4,stage=on"}) {
    for (long long bcol = 1; bcol <= 300; ++bcol) {
      EXPECT_NO_THROW(check_legal(fitted(schedule(text), bcol), bcol)) << text << ", bCol " << bcol;
    }
  }
}

TEST(Devices, HaveTheNearestDatabaseThatWasMeasured) {
  const auto device_for = [](const DeviceKey& key) { return nearest_database(key).head().device; };
  for (const char* gpu : {"h200", "h100", "A100", "a30", "t4", "a10", "rtx3090", "l40s", "b200"}) {
    EXPECT_EQ(device_for(device_of_gpu(gpu).key), "NVIDIA H200") << gpu << ": schedules that are only published lose";
  }
  EXPECT_EQ(device_for(device_of_architecture(80).key), "NVIDIA H200");
  EXPECT_EQ(device_for({}), "NVIDIA H200") << "nothing is known";
}

TEST(Devices, HaveKeysOfWhatADeviceCanHave) {
  EXPECT_EQ(parse_device_key("sm90-132sm-60mib"), (DeviceKey{90, 132, 60ULL << 20}));
  EXPECT_EQ(parse_device_key("sm80-0sm-0mib"), (DeviceKey{80, 0, 0}));
  for (const char* text :
       {"sm-90-132sm-60mib", "sm90--132sm-60mib", "sm-90--132sm-60mib", "sm90-132sm--60mib", "sm+90-132sm-60mib",
        "sm090-132sm-60mib", "sm90-132sm-60mibs", "sm90-132sm", "", "sm4294967386-132sm-60mib",
        "sm90-4294967428sm-60mib", "sm90-132sm-18446744073709551676mib", "sm90-132sm-99999999999999999999999mib"}) {
    EXPECT_THROW(parse_device_key(text), UserError) << text;
  }
}

TEST(Devices, AreComparedByWhatIsKnown) {
  const DeviceKey h200{90, 132, 60ULL << 20};
  EXPECT_EQ(device_distance(h200, h200), 0);
  EXPECT_DOUBLE_EQ(device_distance(h200, {80, 66, 15ULL << 20}), 2 + 1 + 0.5 * 2);
  EXPECT_EQ(device_distance({90, 0, 0}, h200), 0);
  EXPECT_TRUE(may_be({90, 0, 0}, h200));
  EXPECT_TRUE(may_be(device_of_gpu("h200").key, h200));
  EXPECT_FALSE(may_be(device_of_gpu("h100").key, h200)) << "another L2 cache";
  EXPECT_FALSE(may_be(device_of_architecture(80).key, h200));
  EXPECT_EQ(print(device_of_gpu("rtx4090").key), "sm89-128sm-72mib");
}

TEST(Devices, OfThePaperHasItsSchedules) {
  EXPECT_EQ(published_database().head().origin, DatabaseOrigin::published);
  EXPECT_EQ(published_database().head().key, device_of_gpu("a100").key);
  ASSERT_NE(published_database().default_for(100), nullptr);
  EXPECT_EQ(published_database().default_for(100)->schedule, schedule("3-7-2-32"));
}

}  // namespace
}  // namespace esc
