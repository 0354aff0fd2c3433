// SPDX-License-Identifier: Apache-2.0
// Layers of 16 bits that are larger than a cache, of which half are not zero: which of them are streamed in half steps.

#include "generator/schedule/half_step_streams.h"

#include <gtest/gtest.h>

#include "tests/support/rule_layers.h"

namespace esc {
namespace {

using test::expect_choices;
using test::expect_even_panels;
using test::expect_no_choices;
using test::layer_of;

TEST(HalfStepStreams, HaveAsManyPanelsInABlockAsAMultiprocessorGets) {
  const LayerShape layers[] = {
      layer_of(8192, 8192, 0.5, 1, "f16"),
      layer_of(28672, 8192, 0.4, 1, "f16"),
      layer_of(8192, 8192, 0.5, 8, "f16"),
      layer_of(8192, 28672, 0.5, 8, "bf16"),
      layer_of(8192, 28672, 0.4, 16, "f16"),
      layer_of(4096, 14336, 0.5, 8, "f16"),
      layer_of(11008, 4096, 0.5, 8, "f16"),
      layer_of(28672, 8192, 0.5, 8, "f16"),
      // At 60 % zeros in two turns, so that a panel has two warps.
      layer_of(28672, 8192, 0.4, 8, "f16"),
      layer_of(28672, 8192, 0.5, 32, "f16"),
      // Twenty panels for each multiprocessor are two blocks of ten.
      layer_of(42240, 2048, 0.5, 8, "f16"),
  };
  expect_choices(half_step_streams, layers, 2, "by rule: layers larger than a cache with half", expect_even_panels);
}

TEST(HalfStepStreams, AreForWhatWasMeasured) {
  const LayerShape measured = layer_of(8192, 28672, 0.5, 8, "f16");
  const LayerShape layers[] = {layer_of(4096, 4096, 0.5, 8, "f16"), layer_of(8192, 28672, 0.3, 8, "f16"),
                               layer_of(8192, 28672, 0.6, 8, "f16"), layer_of(8192, 28672, 0.5, 64, "f16"),
                               layer_of(1024, 262144, 0.5, 8, "f16")};
  expect_no_choices(half_step_streams, layers, measured, "f32");
}

/// Memory of an H100 gives bytes so slowly that there is time to find listed values.
TEST(HalfStepStreams, GiveWayToListsWhereMemoryIsSlow) {
  const KernelTarget h100 = kernel_target(device_of_gpu("h100").key, {});
  EXPECT_THAT(half_step_streams(layer_of(8192, 8192, 0.5, 16, "f16"), h100), testing::IsEmpty());
  EXPECT_THAT(half_step_streams(layer_of(8192, 8192, 0.5, 32, "f16"), h100), testing::SizeIs(2))
      << "of so many columns there are no lists";
  EXPECT_THAT(half_step_streams(layer_of(8192, 8192, 0.4, 16, "f16"), h100), testing::SizeIs(2))
      << "of so many zeros, too";
}

}  // namespace
}  // namespace esc
