// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/directive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "generator/schedule/schedule.h"
#include "tests/support/run_size.h"

namespace esc {
namespace {

using testing::HasSubstr;

/// A directive of every kind, with values that are not the default ones, and its text.
struct Written {
  Directive directive;
  std::string text;
};

const std::vector<Written>& one_of_each() {
  static const std::vector<Written> all{
      {Unroll{"i", 4}, "unroll(i, 4)"},
      {Enumerate{}, "enumerate()"},
      {MapGrid{"i"}, "map(i, grid)"},
      {MapLanes{"j", 64, 128}, "map(j, lanes, columns=64, threads=128)"},
      {Coarsen{"k", 7}, "coarsen(k, 7)"},
      {Transform{"A"}, "transform(A, lists)"},
      {Compact{}, "compact()"},
      {MergePatterns{}, "merge()"},
      {AssignRowTiles{"i", 4, 2}, "row_tiles(i, block=4, warp=2)"},
      {TileColumns{"j", 16, 4}, "tile(j, columns=16, vector=4)"},
      {SplitColumns{"k", 8, 4}, "split_k(k, warps=8, lane_groups=4)"},
      {AccumulateSums{}, "accumulate()"},
      {ShuffleSums{}, "shuffle()"},
      {ShareSums{}, "reduce_warps()"},
      {PackRegions{"A"}, "transform(A, regions)"},
      {Vectorize{"j"}, "vectorize(j)"},
      {BatchColumns{"k", 8}, "unroll_k(k, 8)"},
      {Prefetch{"A"}, "prefetch(A)"},
      {StageRegions{"A"}, "stage(A)"},
      {Overlap{}, "pdl()"},
      {CutRows{"k", 64}, "split_rows(k, 64)"},
      {PackTasks{"A", 32}, "transform(A, tasks, 32)"},
      {AssignTasks{"task", 4, 8}, "assign(task, warps=4, lane_groups=8)"},
      {PlaceEpilogue{}, "epilogue()"},
      {Mainloop{"i", 8, 1}, "mainloop(i, row_tiles=8, warps=1)"},
      {FragmentColumns{"j", 16}, "fragment(j, 16)"},
      {PackFragments{"A"}, "transform(A, sparse24)"},
      {PackDense{"A"}, "transform(A, dense)"},
      {PackListed{"A"}, "transform(A, compressed)"},
      {PackPlaced{"A"}, "transform(A, decompress)"},
      {PackGathered{"A"}, "transform(A, gathered)"},
      {PackBitmap{"A"}, "transform(A, bitmap)"},
      {PackSparse24{"A"}, "transform(A, sparse24_tiles)"},
      {PipelineKTiles{"k", 3}, "pipeline(k, 3)"},
      {PipelineTiles{"k", 4, 3}, "pipeline(k, stages=4, stages_a=3)"},
      {StoreTiles{"C"}, "store(C)"},
      {CopyInBulk{}, "copy(tma)"},
      {CopyPackedTiles{}, "copy(bulk_a)"},
      {ClusterIterations{"k", 4}, "cluster(k, 4)"},
      {WarpSpecialize{"A"}, "warp_specialize(A)"},
  };
  return all;
}

/// The refusal of a text as a script, or "" where it is read.
std::string refusal(const std::string& text) {
  try {
    parse_script(text);
  } catch (const ScheduleError& error) {
    return error.what();
  }
  return "";
}

TEST(Directive, TheExamplesAreOneOfEachKind) {
  std::set<std::size_t> kinds;
  for (const Written& written : one_of_each()) {
    kinds.insert(written.directive.index());
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<Directive>);
  EXPECT_EQ(one_of_each().size(), std::variant_size_v<Directive>);
}

TEST(Directive, OfStreamsHasNumbersWhereTheyAreNotTheUsualOnes) {
  for (const auto& [directive, text] :
       {Written{Mainloop{"i", 8, 1, 32}, "mainloop(i, row_tiles=8, warps=1, warp_m=32)"},
        Written{Mainloop{"i", 8, 2, 16, 2}, "mainloop(i, row_tiles=8, warps=2, split_k=2)"},
        Written{Mainloop{"i", 8, 2, 32, 2}, "mainloop(i, row_tiles=8, warps=2, warp_m=32, split_k=2)"},
        Written{Mainloop{"i", 4, 1, 16, 1, 32}, "mainloop(i, row_tiles=4, warps=1, tile_k=32)"},
        Written{PackBitmap{"A", 4}, "transform(A, bitmap, warps=4)"},
        Written{FragmentColumns{"j", 128, 16}, "fragment(j, 128, warp_n=16)"}}) {
    EXPECT_EQ(print(directive), text);
    EXPECT_EQ(parse_directive(text), directive);
  }
  EXPECT_THAT(refusal("mainloop(i, row_tiles=8, warps=2, split_k=2, warp_m=32)"),
              testing::HasSubstr("is not of the form of mainloop"));
  EXPECT_THAT(refusal("mainloop(i, row_tiles=8, warps=2, columns=2)"),
              testing::HasSubstr("is not of the form of mainloop"));
}

TEST(Directive, OfStepsOfOneOfFourElementsIsGone) {
  EXPECT_THAT(refusal("sparse14(A)"), testing::HasSubstr("there is no directive 'sparse14'"));
  EXPECT_THAT(refusal("quarter(A)"), testing::HasSubstr("there is no directive 'quarter'"));
}

TEST(Directive, IsReadAsItIsPrinted) {
  for (const Written& written : one_of_each()) {
    EXPECT_EQ(print(written.directive), written.text);
    EXPECT_EQ(parse_directive(written.text), written.directive) << written.text;
  }
}

TEST(Directive, IsReadInTheWordsOfTheReleaseBefore) {
  const std::vector<Written> old{
      {AssignRowTiles{"i", 4, 2}, "own(i, panels=4, warp=2)"},
      {SplitColumns{"k", 8, 4}, "split(k, warps=8, groups=4)"},
      {ShareSums{}, "share()"},
      {BatchColumns{"k", 8}, "batch(k, 8)"},
      {Overlap{}, "overlap()"},
      {CutRows{"k", 64}, "cut(k, 64)"},
      {AssignTasks{"task", 4, 8}, "assign(task, warps=4, groups=8)"},
      {Mainloop{"i", 8, 1, 32, 2, 32}, "stream(i, panels=8, warps=1, rows=32, share=2, window=32)"},
      {FragmentColumns{"j", 128, 16}, "fragment(j, 128, warp=16)"},
      {PackFragments{"A"}, "transform(A, fragments)"},
      {PackListed{"A"}, "transform(A, listed)"},
      {PackPlaced{"A"}, "transform(A, placed)"},
      {PipelineTiles{"k", 4, 3, 256}, "pipeline(k, tiles=4, units=3, step=256)"},
      {CopyInBulk{}, "copy(bulk)"},
      {CopyPackedTiles{}, "copy(units)"},
      {WarpSpecialize{"A"}, "ahead(A)"},
  };
  for (const Written& written : old) {
    EXPECT_EQ(parse_directive(written.text), written.directive) << written.text;
    EXPECT_NE(print(written.directive), written.text);
    EXPECT_THAT(old_words_in(written.text), testing::Not(testing::IsEmpty())) << written.text;
    EXPECT_THAT(old_words_in(print(written.directive)), testing::IsEmpty()) << written.text;
  }
}

TEST(Script, SaysItsOldWordsOnce) {
  EXPECT_THAT(
      old_words_in("own(i, panels=4, warp=2); split_k(k, warps=8, groups=4)\nown(i, block=4, warp=2)"),
      testing::ElementsAre(OldWord{"own", "row_tiles"}, OldWord{"panels", "block"}, OldWord{"groups", "lane_groups"}));
}

/// Each script means what its schedule means today.
TEST(Script, OfTheReleaseBeforeMeansTheSame) {
  std::ifstream file(ESC_SOURCE_DIR "/tests/data/old_scripts.txt");
  std::string schedule;
  std::getline(file, schedule);  // a comment
  std::size_t scripts = 0;
  for (std::string script; std::getline(file, schedule) && std::getline(file, script); ++scripts) {
    EXPECT_EQ(parse_script(script), expand(parse_schedule(schedule))) << schedule;
  }
  EXPECT_GT(scripts, 50U);
}

TEST(Directive, HasFreeSpaces) {
  EXPECT_EQ(parse_directive("  map ( j ,lanes,columns = 64 ,\tthreads= 128 ) "), Directive(MapLanes{"j", 64, 128}));
  EXPECT_EQ(parse_directive(" merge ( ) "), Directive(MergePatterns{}));
}

TEST(Script, HoldsDirectivesBetweenSemicolonsOrOnLines) {
  const std::vector<Directive> expected{Unroll{"i", 2}, Enumerate{}, MapGrid{"i"}};
  EXPECT_EQ(parse_script("unroll(i, 2); enumerate(); map(i, grid)"), expected);
  EXPECT_EQ(parse_script("unroll(i, 2)\nenumerate()\nmap(i, grid)\n"), expected);
  EXPECT_EQ(parse_script("unroll(i,2);;enumerate();\n\n  map(i,grid);\r\n"), expected);
  EXPECT_EQ(parse_script(
                "# row_tiles; of two rows\nunroll(i, 2)  # not four: unroll(i, 4)\nenumerate(); # cases\nmap(i, grid)"),
            expected);
}

TEST(Script, OfOneOfEachIsReadAsItIsPrinted) {
  std::vector<Directive> all;
  for (const Written& written : one_of_each()) {
    all.push_back(written.directive);
  }
  EXPECT_EQ(parse_script(print(all)), all);
}

TEST(Script, WithoutADirectiveIsRefused) {
  for (const char* text : {"", " ", ";", "\n\n", "# unroll(i, 2)", " ; # \n;"}) {
    EXPECT_THAT(refusal(text), HasSubstr("has no directive")) << text;
  }
}

TEST(Script, WithAnUnknownDirectiveIsToldTheDirectives) {
  for (const char* text : {"fuse(i, k)", "Unroll(i, 2)", "(i, 2)", "un roll(i, 2)", "unrol"}) {
    const std::string error = refusal(std::string("compact(); ") + text);
    EXPECT_THAT(error, HasSubstr("there is no directive")) << text;
    EXPECT_THAT(error, HasSubstr(text));
    for (const Written& written : one_of_each()) {
      EXPECT_THAT(error, HasSubstr(written.text.substr(0, written.text.find('(')))) << text;
    }
  }
}

TEST(Script, WithADirectiveInAnotherFormIsToldTheForm) {
  for (const char* text : {"unroll(i)", "unroll(i, 4, 4)", "unroll(4, i)", "unroll(i, four)", "unroll(i, 4.5)",
                           "unroll(i, 99999999999)", "unroll(i, )", "unroll(, 4)", "unroll(i 4)", "unroll()", "unroll",
                           "unroll(i, 4", "unroll(i, 4) x", "unroll(i, 4))", "unroll((i, 4)"}) {
    const std::string error = refusal(text);
    EXPECT_THAT(error, HasSubstr("is not of the form of unroll")) << text;
    EXPECT_THAT(error, HasSubstr("write unroll(LOOP, NUMBER)")) << text;
  }
  EXPECT_THAT(refusal("enumerate(i)"), HasSubstr("write enumerate()"));
  EXPECT_THAT(refusal("own(i, warp=2, panels=4)"), HasSubstr("write row_tiles(LOOP, block=NUMBER, warp=NUMBER)"));
  EXPECT_THAT(
      refusal("mainloop(i, 4, 2)"),
      HasSubstr(
          "write mainloop(LOOP, row_tiles=NUMBER, warps=NUMBER, [warp_m=NUMBER], [split_k=NUMBER], [tile_k=NUMBER])"));
  EXPECT_THAT(refusal("fragment(j)"), HasSubstr("write fragment(LOOP, NUMBER, [warp_n=NUMBER])"));
  EXPECT_THAT(refusal("pipeline(4)"), HasSubstr("write pipeline(LOOP, NUMBER)"));
  EXPECT_THAT(refusal("own(i, 4, 2)"), HasSubstr("write row_tiles(LOOP, block=NUMBER, warp=NUMBER)"));
}

TEST(Script, WithADirectiveOfSeveralFormsIsToldThemAll) {
  EXPECT_THAT(refusal("map(i, blocks)"),
              HasSubstr("write map(LOOP, grid) or map(LOOP, lanes, columns=NUMBER, threads=NUMBER)"));
  EXPECT_THAT(refusal("transform(A, tiles)"),
              HasSubstr("write transform(ARRAY, lists) or transform(ARRAY, regions) or "
                        "transform(ARRAY, tasks, NUMBER) or transform(ARRAY, sparse24)"));
}

void expect_read_as_printed(const Schedule& schedule) {
  const std::vector<Directive> directives = expand(schedule);
  EXPECT_EQ(parse_script(print(directives)), directives) << print(schedule);
}

TEST(Script, OfALegalScheduleIsReadAsItIsPrinted) {
  for (const long long bcol : {1, 33, 64, 128}) {
    for (AtomicSchedule schedule : tests::drawn_of(legal_atomic_schedules(bcol), 200)) {
      for (const bool compaction : {false, true}) {
        schedule.compaction = compaction;
        expect_read_as_printed(schedule);
      }
    }
    for (PanelSchedule schedule : tests::drawn_of(legal_panel_schedules(bcol), 200)) {
      for (const bool pdl : {false, true}) {
        schedule.pdl = pdl;
        expect_read_as_printed(schedule);
      }
    }
    for (const RowsSchedule& schedule : tests::drawn_of(legal_rows_schedules(bcol), 200)) {
      expect_read_as_printed(schedule);
    }
    for (const BitmapSchedule& schedule : tests::drawn_of(legal_bitmap_schedules(bcol), 50)) {
      expect_read_as_printed(schedule);
    }
    expect_read_as_printed(
        StreamSchedule{.columns = bcol < 33 ? 8 : 32, .row_tiles = 2, .warps = 3, .stages = 5, .pdl = bcol > 1});
  }
}

}  // namespace
}  // namespace esc
