// SPDX-License-Identifier: Apache-2.0
// Which K tiles of B are patches, and how large they are.

#include "generator/ir/k_tile_patches.h"

#include <gtest/gtest.h>

#include <optional>

namespace esc {
namespace {

Digit digit(const std::string& name, const Affine& extent) { return {name, extent}; }

/// Images of 14 x 14 pixels with a border of zeros, filters of three by three.
Layout image(std::int64_t step = 1, std::int64_t dilation = 1) {
  const Affine items = Affine::of("items");
  const std::int64_t pixels = step == 1 ? 14 : 7;
  return {{digit("c", 64), digit("r", 3), digit("s", 3)},
          {digit("b", items), digit("p", pixels), digit("q", pixels)},
          {{items, Affine::of("b")},
           {64, Affine::of("c")},
           {14, Affine::of("p", step) + Affine::of("r", dilation) - dilation, true},
           {14, Affine::of("q", step) + Affine::of("s", dilation) - dilation, true}}};
}

TEST(KTilePatches, HaveWhatTheTapsOfAFilterShareOnce) {
  const std::optional<KTilePatches> patches = find_k_tile_patches(image(), 128, 64);
  ASSERT_TRUE(patches);
  EXPECT_EQ(patches->taps, 9);
  EXPECT_EQ(patches->channel_digits, 1U);
  // Rows 8 to 135 of B are the last tap of channel 0, all of channels 1 to 14, and the first of channel 15.
  EXPECT_EQ(patches->channels, 16);
  // Rows of an image are 16 positions apart, images 256.
  EXPECT_EQ(patches->spans.back().extent, 16);
  EXPECT_EQ(patches->spans.front().positions, 256);
  EXPECT_EQ(patches->tap_positions, 2 * 16 + 2);
  // Columns 192 to 255 are the last 4 of an image and the first 60 of the next one, which end in its fifth row.
  EXPECT_EQ(patches->patch_positions, (256 + 4 * 16 + 3) - (13 * 16 + 10) + 34 + 1);
  EXPECT_GE(patches->pitch, patches->patch_positions);
  EXPECT_EQ(patches->pitch % 16, 8);
}

TEST(KTilePatches, ReachAsFarAsStepsAndDilationDo) {
  const std::optional<KTilePatches> steps = find_k_tile_patches(image(2), 128, 32);
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->spans.back().extent, 2 * 6 + 2 + 1);
  const std::optional<KTilePatches> dilated = find_k_tile_patches(image(1, 2), 128, 64);
  ASSERT_TRUE(dilated);
  EXPECT_EQ(dilated->spans.back().extent, 13 + 4 + 1);
  EXPECT_EQ(dilated->tap_positions, 4 * 18 + 4);
}

TEST(KTilePatches, AreNoneWhereTheyTakeNoLess) {
  EXPECT_FALSE(find_k_tile_patches(image(), 128, 8)) << "a few columns read the border of a patch more than its inside";
  Layout points = image();
  points.row = {digit("c", 64)};
  points.dimensions[2] = {14, Affine::of("p")};
  points.dimensions[3] = {14, Affine::of("q")};
  EXPECT_FALSE(find_k_tile_patches(points, 128, 64)) << "each row is a channel of its own";
  const Layout plain = row_major("k", Affine::of("K"), "j", Affine::of("N"));
  EXPECT_FALSE(find_k_tile_patches(plain, 128, 64));
}

TEST(KTilePatches, AreNoneOfOtherLayouts) {
  Layout taps_first = image();
  std::swap(taps_first.row.front(), taps_first.row.back());
  EXPECT_FALSE(find_k_tile_patches(taps_first, 128, 64)) << "a K tile has one tap or two of many channels";
  Layout of_items = image();
  of_items.dimensions[0].index = Affine::of("b") + Affine::of("r");
  EXPECT_FALSE(find_k_tile_patches(of_items, 128, 64)) << "how many items there are is not known";
  Layout diagonal = image();
  diagonal.dimensions[2].index = diagonal.dimensions[2].index + Affine::of("q");
  EXPECT_FALSE(find_k_tile_patches(diagonal, 128, 64)) << "a dimension of two digits of a column";
  Layout against = image();
  against.dimensions[3].index = Affine::of("q") - Affine::of("s") + 1;
  EXPECT_FALSE(find_k_tile_patches(against, 128, 64)) << "taps that go backwards are no taps here";
}

}  // namespace
}  // namespace esc
