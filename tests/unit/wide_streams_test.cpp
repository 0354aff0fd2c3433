// SPDX-License-Identifier: Apache-2.0
// Layers of 16 bits with many columns, of which half are not zero: which of them are streamed without lists.

#include "generator/schedule/wide_streams.h"

#include <gtest/gtest.h>

#include "tests/support/rule_layers.h"

namespace esc {
namespace {

using test::expect_choices;
using test::expect_no_choices;
using test::ExpectedSchedule;
using test::layer_of;

TEST(WideStreams, HaveAsManyPanelsInABlockAsAMultiprocessorGets) {
  const ExpectedSchedule table[] = {
      {layer_of(8192, 28672, 0.5, 1, "f16"), "stream:columns=8,panels=4,warps=3,stages=2,pdl=on,copies=bulk"},
      {layer_of(8192, 28672, 0.5, 8, "f16"), "stream:columns=8,panels=4,warps=3,stages=2,pdl=on,copies=bulk"},
      {layer_of(8192, 28672, 0.4, 16, "f16"), "stream:columns=16,panels=4,warps=3,stages=2,pdl=on,copies=units"},
      {layer_of(8192, 28672, 0.5, 32, "f16"), "stream:columns=32,panels=4,warps=2,stages=2,pdl=on,copies=bulk"},
  };
  expect_choices(wide_streams, table, 2, "by rule: wide layers larger than a cache");
}

TEST(WideStreams, AreForWhatWasMeasured) {
  const LayerShape measured = layer_of(8192, 28672, 0.5, 8, "f16");
  const LayerShape layers[] = {layer_of(28672, 8192, 0.5, 8, "f16"), layer_of(4096, 14336, 0.5, 8, "f16"), layer_of(8192, 16384, 0.5, 8, "f16"), layer_of(8192, 28672, 0.3, 8, "f16"), layer_of(8192, 28672, 0.5, 64, "f16"),
                               layer_of(1024, 262144, 0.5, 8, "f16")};
  expect_no_choices(wide_streams, layers, measured, "f32");
}

}  // namespace
}  // namespace esc
