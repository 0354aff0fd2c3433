// SPDX-License-Identifier: Apache-2.0
// Asks a layer of the model "tiny", whose epilogue is bias+scale+residual, for products in each way that there is. In
// place of kernels are functions that print what they got.

#include <cstdio>
#include <cstdlib>

#include "tiny.h"

int main(int, char** arguments) {
  esc_model* const model = tiny_open(arguments[1]);
  const esc_layer* const layer = tiny_layer("d.weight");
  if (model == nullptr || layer->has_epilogue != 1 || layer->prepare(model, layer) != cudaSuccess) {
    std::printf("%s\n", tiny_error());
    return 1;
  }
  for (uint32_t at = 0; at < layer->operand_count; ++at) {
    std::printf("%s is %s %s\n", layer->operands[at].name, layer->operands[at].dtype, layer->operands[at].form);
  }
  const float bias[] = {1};
  const float scale = 2;
  const float residual[] = {3};
  const auto print = [](const char* way, cudaError_t status) {
    std::printf("%s: %d\n", way, static_cast<int>(status));
  };
  print("typed", tiny_multiply(model, layer, "", 40, nullptr, 24, bias, scale, residual, 5, 1, nullptr));
  const esc_argument all[] = {{bias, 0}, {&scale, 0}, {residual, 5}};
  print("with arguments", layer->multiply_with(model, layer, "", 40, nullptr, 24, all, 1, nullptr));
  const esc_argument too_few[] = {{bias, 0}, {nullptr, 0}, {residual, 5}};
  print("without a number", layer->multiply_with(model, layer, "", 40, nullptr, 24, too_few, 1, nullptr));
  print("without arguments", layer->multiply_with(model, layer, "", 40, nullptr, 24, nullptr, 1, nullptr));
  print("as a plain product", layer->multiply(model, layer, "", 40, nullptr, 24, 1, nullptr));
  void* const memory = std::aligned_alloc(256, (layer->device_bytes(layer) + 255) / 256 * 256);
  if (layer->place(model, layer, memory, nullptr) != cudaSuccess) {
    return 1;
  }
  tiny_close(model);
  print("placed", layer->multiply_placed(layer, memory, "", 40, nullptr, 24, all, 1, nullptr));
  print("placed, without arguments", layer->multiply_placed(layer, memory, "", 40, nullptr, 24, nullptr, 1, nullptr));
  std::free(memory);
  return 0;
}
