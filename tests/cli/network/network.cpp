// SPDX-License-Identifier: Apache-2.0
// A user's program, without a GPU: network PACKED
#include <cstdio>
#include <vector>

#include "layer.h"

int main(int, char** arguments) {
  std::vector<double> packed(layer_packed_bytes() / sizeof(double));
  if (layer_load(arguments[1], packed.data()) != 0) {
    std::printf("%s\n", layer_transform_error());
    return 1;
  }
  const bool refuses = layer_spmm(nullptr, nullptr, 1, nullptr, 1, 1, nullptr) == cudaErrorInvalidValue;
  std::puts(refuses ? "the layer is usable" : "the launcher takes null pointers");
  return refuses ? 0 : 1;
}
