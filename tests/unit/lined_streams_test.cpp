// SPDX-License-Identifier: Apache-2.0
// Layers of 16 bits that a cache holds, with 8, 16 and 32 columns of B: which of them are streamed by lines of B.

#include "generator/schedule/lined_streams.h"

#include <gtest/gtest.h>

#include "tests/support/rule_layers.h"

namespace esc {
namespace {

using test::expect_choices;
using test::expect_even_panels;
using test::expect_no_choices;
using test::hopper;
using test::layer_of;

TEST(LinedStreams, HaveAsManyPanelsInABlockAsAMultiprocessorGets) {
  const LayerShape layers[] = {
      layer_of(768, 3072, 0.5, 16, "f16"),
      layer_of(768, 3072, 0.3, 32, "bf16"),
      layer_of(2048, 2048, 0.1, 32, "f16"),
      layer_of(2048, 8192, 0.5, 32, "f16"),
      layer_of(1024, 4096, 0.3, 8, "f16"),
      // Four windows are two turns for two warps.
      layer_of(4096, 1024, 0.5, 16, "f16"),
      layer_of(4096, 4096, 0.5, 16, "f16"),
      layer_of(4096, 4096, 0.5, 32, "f16"),
      layer_of(4096, 4096, 0.3, 8, "f16"),
      layer_of(4096, 4096, 0.1, 32, "f16"),
      // Two panels of 16 rows are one of 32.
      layer_of(4096, 4096, 0.4, 32, "f16"),
      layer_of(2560, 10240, 0.2, 16, "f16"),
      layer_of(8192, 2048, 0.3, 32, "f16"),
      layer_of(28672, 1024, 0.3, 16, "f16"),
  };
  expect_choices(lined_streams, layers, 2, "by rule: layers that a cache holds are streamed by lines of B",
                 expect_even_panels);
}

TEST(LinedStreams, AreForWhatWasMeasured) {
  const LayerShape measured = layer_of(2048, 2048, 0.3, 32, "f16");
  const LayerShape layers[] = {layer_of(1024, 1024, 0.3, 32, "f16"), layer_of(512, 8192, 0.3, 32, "f16"),
                               layer_of(8192, 8192, 0.3, 32, "f16"), layer_of(2048, 2048, 0.05, 32, "f16"),
                               layer_of(768, 3072, 0.1, 32, "f16"),  layer_of(2048, 2048, 0.3, 24, "f16"),
                               layer_of(2048, 2048, 0.3, 4, "f16"),  layer_of(2048, 2048, 0.3, 64, "f16")};
  expect_no_choices(lined_streams, layers, measured, "f32");
}

TEST(LinedStreams, AreForWholeLines) {
  EXPECT_THAT(lined_streams(layer_of(2048, 2052, 0.3, 8, "f16"), hopper), testing::IsEmpty())
      << "a line is eight rows of B";
  EXPECT_THAT(lined_streams(layer_of(2048, 2050, 0.3, 16, "f16"), hopper), testing::IsEmpty())
      << "or four of more columns";
  EXPECT_THAT(lined_streams(layer_of(2048, 2050, 0.3, 32, "f16"), hopper), testing::SizeIs(2)) << "or two";
}

}  // namespace
}  // namespace esc
