// SPDX-License-Identifier: Apache-2.0
// Unpacks the first layer of the model "tiny" and has it take values. Its kernels are functions that print their names,
// and leave lda in A or print it: FILE.

#include <cstdio>
#include <cstdlib>

#include "tiny.h"

int main(int, char** arguments) {
  esc_model* const model = tiny_open(arguments[1]);
  const esc_layer* const layer = tiny_layer_at(0);
  if (model == nullptr || layer->prepare(model, layer) != cudaSuccess) {
    std::printf("%s\n", tiny_error());
    return 1;
  }
  int64_t a = 0;
  cudaError_t status = layer->unpack(model, layer, &a, 70, nullptr);
  std::printf("unpacked: %d %d\n", status, static_cast<int>(a));
  constexpr std::size_t alignment = 256;
  unsigned char* const memory = static_cast<unsigned char*>(
      std::aligned_alloc(alignment, (layer->device_bytes(layer) / alignment + 1) * alignment));
  status = layer->place(model, layer, memory, nullptr);
  status = status != cudaSuccess ? status : layer->unpack_placed(layer, memory, &a, 71, nullptr);
  std::printf("placed: %d %d\n", status, static_cast<int>(a));
  std::printf("not aligned: %d\n", layer->unpack_placed(layer, memory + 8, &a, 72, nullptr));
  std::printf("values: %d\n", layer->values(model, layer, &a, 73, nullptr));
  std::printf("placed: %d\n", layer->values_placed(layer, memory, &a, 74, nullptr));
  std::printf("not aligned: %d\n", layer->values_placed(layer, memory + 8, &a, 75, nullptr));
  std::free(memory);
  tiny_close(model);
  return 0;
}
