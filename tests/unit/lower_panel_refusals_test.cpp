#include <vector>

#include "generator/lower/map_blocks.h"
#include "tests/unit/panel_nests.h"
#include "tests/unit/refused_step.h"

namespace esc {
namespace {

using namespace panel_nests;

const std::vector<Pattern> one_pattern{{0b11, 2}};

INSTANTIATE_TEST_SUITE_P(
    Panel, RefusedStep,
    testing::Values(
        StepRefusal{
            "merge too early", [] { merge_patterns(canonical, {}); },
            "merge(): the columns of the panels are not enumerated; unroll the row loop and enumerate its patterns "
            "first"},
        StepRefusal{"merge twice", [] { merge_patterns(merged, {}); }, "are not enumerated"},
        StepRefusal{"merge one of three",
                    [] {
                      merge_patterns(enumerate(unroll(canonical, {"i", 2}), one_pattern), {});
                    },
                    "only 1 of 3 patterns are enumerated; enumerate all patterns: the union leaves none out"},
        StepRefusal{"panels unknown",
                    [] {
                      map_panels(merged, {"x", 1, 1});
                    },
                    "no row loop 'x' to map to the grid; the loops of the nest are i, j"},
        StepRefusal{"panels of columns",
                    [] {
                      map_panels(merged, {"j", 1, 1});
                    },
                    "no row loop 'j'"},
        StepRefusal{"panels too early",
                    [] {
                      map_panels(enumerated, {"i", 1, 1});
                    },
                    "the patterns under loop 'i' are not merged; unroll the row loop and merge its patterns first"},
        StepRefusal{"panels twice",
                    [] {
                      map_panels(on_panels, {"i", 1, 1});
                    },
                    "no row loop 'i'"},
        StepRefusal{"0 panels",
                    [] {
                      map_panels(merged, {"i", 0, 1});
                    },
                    "panels=0 is outside 1 to 128; the nearest legal value is 1"},
        StepRefusal{"129 panels",
                    [] {
                      map_panels(merged, {"i", 129, 1});
                    },
                    "the nearest legal value is 128"},
        StepRefusal{"0 in a warp",
                    [] {
                      map_panels(merged, {"i", 4, 0});
                    },
                    "warp=0 is outside 1 to 32; the nearest legal value is 1"},
        StepRefusal{"33 in a warp",
                    [] {
                      map_panels(merged, {"i", 66, 33});
                    },
                    "the nearest legal value is 32"},
        StepRefusal{"5 panels by 2",
                    [] {
                      map_panels(merged, {"i", 5, 2});
                    },
                    "panels=5 is no multiple of warp=2; the nearest legal value is 4"},
        StepRefusal{"1 panel by 2",
                    [] {
                      map_panels(merged, {"i", 1, 2});
                    },
                    "the nearest legal value is 2"},
        StepRefusal{"17 warps",
                    [] {
                      map_panels(merged, {"i", 34, 2});
                    },
                    "a block of 17 warps is more than 16; the nearest legal value is 32"},
        StepRefusal{"tiles too early",
                    [] {
                      map_tiles(merged, {"j", 32, 4});
                    },
                    "the panels are not mapped to the grid; map the row loop first"},
        StepRefusal{"tiles of a block per pattern",
                    [] {
                      map_tiles(map_blocks(enumerated, {"i"}), {"j", 32, 4});
                    },
                    "there is no column loop 'j'"},
        StepRefusal{"tiles unknown",
                    [] {
                      map_tiles(on_panels, {"x", 32, 4});
                    },
                    "there is no column loop 'x' to map to the grid; the loops of the nest are block, set, panel, j"},
        StepRefusal{"tiles twice",
                    [] {
                      map_tiles(on_tiles, {"j", 32, 4});
                    },
                    "there is no column loop 'j'"},
        StepRefusal{"0 columns",
                    [] {
                      map_tiles(on_panels, {"j", 0, 1});
                    },
                    "columns=0 is outside 1 to 128; the nearest legal value is 1"},
        StepRefusal{"256 columns",
                    [] {
                      map_tiles(on_panels, {"j", 256, 4});
                    },
                    "the nearest legal value is 128"},
        StepRefusal{"vector 8",
                    [] {
                      map_tiles(on_panels, {"j", 32, 8});
                    },
                    "vector=8 is outside 1 to 4; the nearest legal value is 4"},
        StepRefusal{"vector 4 of 6",
                    [] {
                      map_tiles(on_panels, {"j", 6, 4});
                    },
                    "vector=4 does not divide columns=6; the nearest legal value is 2"},
        StepRefusal{"too many lanes",
                    [] {
                      map_tiles(on_panels, {"j", 128, 4});
                    },
                    "32 lanes for each of 2 panels are more than a warp's 32; the nearest legal value is columns=64"},
        StepRefusal{"split too early",
                    [] {
                      split_columns(on_panels, {"k", 1, 1});
                    },
                    "the columns of C are not mapped to the grid; map the column loop first"},
        StepRefusal{"split unmapped",
                    [] {
                      split_columns(merged, {"k", 1, 1});
                    },
                    "the panels are not mapped to the grid"},
        StepRefusal{"split unknown",
                    [] {
                      split_columns(on_tiles, {"x", 1, 1});
                    },
                    "there is no loop over enumerated columns 'x'; split the reduction loop, once"},
        StepRefusal{"split twice",
                    [] {
                      split_columns(shared_out, {"k", 1, 1});
                    },
                    "no loop over enumerated columns 'k'"},
        StepRefusal{"0 warps",
                    [] {
                      split_columns(on_tiles, {"k", 0, 1});
                    },
                    "warps=0 is outside 1 to 8 of 16 warps; the nearest legal value is 1"},
        StepRefusal{"too many warps",
                    [] {
                      split_columns(on_tiles, {"k", 16, 1});
                    },
                    "warps=16 is outside 1 to 8 of 16 warps; the nearest legal value is 8"},
        StepRefusal{"too many groups",
                    [] {
                      split_columns(on_tiles, {"k", 1, 8});
                    },
                    "groups=8 is outside 1 to 4 of 32 lanes; the nearest legal value is 4"},
        StepRefusal{"reduce unmapped", [] { reduce_sums(merged, {}); },
                    "reduce(): the panels are not mapped to the grid"},
        StepRefusal{"reduce too early", [] { reduce_sums(on_tiles, {}); },
                    "the columns of the panels are not split; split the reduction loop first"},
        StepRefusal{"reduce twice", [] { reduce_sums(reduced, {}); }, "the sums are already reduced; reduce once"},
        StepRefusal{"pack dense",
                    [] {
                      pack_regions(reduced, {"B", 4});
                    },
                    "'B' is not a sparse array of the nest"},
        StepRefusal{"pack twice",
                    [] {
                      pack_regions(packed, {"A", 4});
                    },
                    "'A' is not a sparse array of the nest"},
        StepRefusal{"pack 0",
                    [] {
                      pack_regions(reduced, {"A", 0});
                    },
                    "a multiple of 0 is outside 1 to 8; the nearest legal value is 1"},
        StepRefusal{"pack 9",
                    [] {
                      pack_regions(reduced, {"A", 9});
                    },
                    "the nearest legal value is 8"},
        StepRefusal{"pack unmapped",
                    [] {
                      pack_regions(merged, {"A", 4});
                    },
                    "the panels are not mapped to the grid"},
        StepRefusal{"pack unsplit",
                    [] {
                      pack_regions(on_tiles, {"A", 4});
                    },
                    "the sums are not reduced; split the reduction loop and reduce its sums first"},
        StepRefusal{"pack too early",
                    [] {
                      pack_regions(shared_out, {"A", 4});
                    },
                    "the sums are not reduced"},
        StepRefusal{"steps too early",
                    [] {
                      unroll_steps(reduced, {"k", 4});
                    },
                    "the sparse array is not stored in regions; transform it into regions first"},
        StepRefusal{"steps unknown",
                    [] {
                      unroll_steps(packed, {"x", 4});
                    },
                    "there is no loop over columns 'x' to unroll"},
        StepRefusal{"steps twice",
                    [] {
                      unroll_steps(stepped, {"k", 2});
                    },
                    "there is no loop over columns 'k' to unroll; unroll the reduction loop, once"},
        StepRefusal{"steps by 0",
                    [] {
                      unroll_steps(packed, {"k", 0});
                    },
                    "the nearest legal value is 1"},
        StepRefusal{"steps by 3",
                    [] {
                      unroll_steps(packed, {"k", 3});
                    },
                    "the steps of a region are a multiple of 4, not of 3; the nearest legal value is 1"},
        StepRefusal{"steps by 8",
                    [] {
                      unroll_steps(packed, {"k", 8});
                    },
                    "the nearest legal value is 4"},
        StepRefusal{"stage too early", [] { stage_regions(reduced, {"A"}); },
                    "'A' is not stored in regions; transform the sparse array into regions first"},
        StepRefusal{"stage dense", [] { stage_regions(packed, {"B"}); }, "'B' is not stored in regions"},
        StepRefusal{"stage twice", [] { stage_regions(staged, {"A"}); }, "'A' is already staged; stage once"}));

}  // namespace
}  // namespace esc
