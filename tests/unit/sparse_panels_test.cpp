// SPDX-License-Identifier: Apache-2.0
// Large layers of few non-zeros: which of them have a row for each warp.

#include "generator/schedule/sparse_panels.h"

#include <gtest/gtest.h>

#include "tests/support/rule_layers.h"

namespace esc {
namespace {

using test::expect_choices;
using test::expect_no_choices;
using test::layer_of;

TEST(SparsePanels, GiveEachWarpRowsOfItsOwn) {
  const LayerShape layers[] = {
      layer_of(2048, 8192, 0.02, 128),  layer_of(4096, 4096, 0.02, 64),  layer_of(4096, 11008, 0.02, 64),
      layer_of(11008, 4096, 0.018, 32), layer_of(11008, 4096, 0.01, 32), layer_of(11008, 4096, 0.01, 64),
      layer_of(4096, 4096, 0.01, 128),  layer_of(4096, 4096, 0.05, 32),
  };
  expect_choices(sparse_panels, layers, 1, "by rule: large layers of few non-zeros",
                 [](const LayerShape& shape, const Schedule& schedule) {
                   const auto& panels = std::get<PanelSchedule>(schedule);
                   EXPECT_EQ(panels.ufi, 1) << test::print(shape);
                   EXPECT_EQ(panels.warps, 1) << test::print(shape);
                 });
}

TEST(SparsePanels, AreForWhatWasMeasured) {
  const LayerShape measured = layer_of(4096, 4096, 0.02, 64);
  const LayerShape layers[] = {layer_of(4096, 2048, 0.05, 128), layer_of(33288, 512, 0.05, 128),
                               layer_of(4096, 4096, 0.007, 64), layer_of(4096, 4096, 0.1, 64),
                               layer_of(11008, 4096, 0.05, 64), layer_of(4096, 4096, 0.02, 128),
                               layer_of(2048, 8192, 0.02, 64),  layer_of(8192, 8192, 0.05, 32),
                               layer_of(4096, 4096, 0.05, 16),  layer_of(4096, 4096, 0.05, 256)};
  expect_no_choices(sparse_panels, layers, measured, "f16");
}

}  // namespace
}  // namespace esc
