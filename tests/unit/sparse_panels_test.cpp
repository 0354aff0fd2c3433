// SPDX-License-Identifier: Apache-2.0
// Large layers of few non-zeros: which of them have a row for each warp.

#include "generator/schedule/sparse_panels.h"

#include <gtest/gtest.h>

#include "tests/support/rule_layers.h"

namespace esc {
namespace {

using test::expect_choices;
using test::expect_no_choices;
using test::ExpectedSchedule;
using test::layer_of;

TEST(SparsePanels, GiveEachWarpRowsOfItsOwn) {
  const ExpectedSchedule table[] = {
      {layer_of(2048, 8192, 0.02, 128), "panel:ufi=1,columns=64,vector=4,groups=2,warps=1,panels=4,ufk=4,stage=off,pdl=on"},
      {layer_of(4096, 4096, 0.02, 64), "panel:ufi=1,columns=64,vector=4,groups=2,warps=1,panels=4,ufk=4,stage=off,pdl=on"},
      {layer_of(4096, 11008, 0.02, 64), "panel:ufi=1,columns=64,vector=4,groups=2,warps=1,panels=4,ufk=4,stage=off,pdl=on"},
      {layer_of(11008, 4096, 0.018, 32), "panel:ufi=1,columns=32,vector=4,groups=1,warps=1,panels=4,ufk=8,stage=off,pdl=on"},
      {layer_of(11008, 4096, 0.01, 32), "panel:ufi=1,columns=32,vector=4,groups=1,warps=1,panels=4,ufk=8,stage=off,pdl=on"},
      {layer_of(11008, 4096, 0.01, 64), "panel:ufi=1,columns=64,vector=4,groups=1,warps=1,panels=8,ufk=8,stage=off,pdl=on"},
      {layer_of(4096, 4096, 0.01, 128), "panel:ufi=1,columns=32,vector=4,groups=1,warps=1,panels=4,ufk=8,stage=off,pdl=on"},
      {layer_of(4096, 4096, 0.05, 32), "panel:ufi=1,columns=32,vector=4,groups=4,warps=1,panels=4,ufk=4,stage=off,pdl=on"},
  };
  expect_choices(sparse_panels, table, 1, "by rule: large layers of few non-zeros");
}

TEST(SparsePanels, AreForWhatWasMeasured) {
  const LayerShape measured = layer_of(4096, 4096, 0.02, 64);
  const LayerShape layers[] = {layer_of(4096, 2048, 0.05, 128), layer_of(33288, 512, 0.05, 128), layer_of(4096, 4096, 0.007, 64), layer_of(4096, 4096, 0.1, 64), layer_of(11008, 4096, 0.05, 64), layer_of(4096, 4096, 0.02, 128), layer_of(2048, 8192, 0.02, 64),
                               layer_of(8192, 8192, 0.05, 32), layer_of(4096, 4096, 0.05, 16), layer_of(4096, 4096, 0.05, 256)};
  expect_no_choices(sparse_panels, layers, measured, "f16");
}

}  // namespace
}  // namespace esc
