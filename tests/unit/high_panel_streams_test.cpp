// SPDX-License-Identifier: Apache-2.0
// Layers of 16 bits that are larger than a cache: which of them are streamed by panels of 32 rows.

#include "generator/schedule/high_panel_streams.h"

#include <gtest/gtest.h>

#include "tests/support/rule_layers.h"

namespace esc {
namespace {

using test::expect_choices;
using test::expect_even_panels;
using test::expect_no_choices;
using test::hopper;
using test::layer_of;

constexpr KernelTarget slow_memory{.oldest_architecture = 90, .newest_architecture = 90, .memory_gigabytes = 3350};

TEST(HighPanelStreams, AreInOneBlockOfEachMultiprocessor) {
  const LayerShape layers[] = {
      layer_of(8192, 8192, 0.5, 32, "f16"),  layer_of(8192, 8192, 0.3, 32, "bf16"),
      layer_of(11008, 4096, 0.4, 32, "f16"), layer_of(8192, 8192, 0.2, 16, "f16"),
      layer_of(11008, 4096, 0.2, 16, "f16"), layer_of(11008, 4096, 0.2, 1, "f16"),
      layer_of(11008, 4096, 0.2, 8, "bf16"),
  };
  expect_choices(high_panel_streams, layers, 2, "by rule: layers larger than a cache are streamed by panels of 32 rows",
                 expect_even_panels);
}

TEST(HighPanelStreams, KeepHalfStepsWhereQuarterStepsReadFewerBytes) {
  const LayerShape shape = layer_of(8192, 8192, 0.3, 32, "f16");
  EXPECT_EQ(print(choose_schedule(shape).schedule), print(high_panel_streams(shape, hopper).front().schedule));
}

TEST(HighPanelStreams, AreForWhatWasMeasured) {
  const LayerShape measured = layer_of(8192, 8192, 0.3, 32, "f16");
  const LayerShape layers[] = {layer_of(4096, 4096, 0.3, 32, "f16"), layer_of(28672, 8192, 0.3, 32, "f16"),
                               layer_of(8192, 8192, 0.2, 32, "f16"), layer_of(8192, 8192, 0.6, 32, "f16"),
                               layer_of(8192, 8192, 0.3, 24, "f16"), layer_of(8192, 8192, 0.3, 64, "f16"),
                               layer_of(8192, 8192, 0.3, 16, "f16"), layer_of(8192, 8192, 0.1, 16, "f16"),
                               layer_of(8192, 8192, 0.2, 8, "f16"),  layer_of(11008, 4096, 0.2, 12, "f16"),
                               layer_of(11008, 4096, 0.1, 8, "f16"), layer_of(4096, 14336, 0.2, 16, "f16")};
  expect_no_choices(high_panel_streams, layers, measured, "f32");
}

/// Slow memory binds before rows of B do, but not where the steps of few bytes take longer than these.
TEST(HighPanelStreams, AreForQuarterStepsAloneWhereMemoryIsSlow) {
  EXPECT_THAT(high_panel_streams(layer_of(8192, 8192, 0.3, 32, "f16"), slow_memory), testing::IsEmpty());
  EXPECT_THAT(high_panel_streams(layer_of(8192, 8192, 0.2, 16, "f16"), slow_memory), testing::SizeIs(2));
}

}  // namespace
}  // namespace esc
