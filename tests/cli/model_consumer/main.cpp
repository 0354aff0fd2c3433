// SPDX-License-Identifier: Apache-2.0
// Opens the packed matrices of the model "tiny" and asks for products: FILE [LAYER N ...]. In place of kernels stand functions that print their
// names and the sizes of what they got.

#include <cstdio>
#include <cstdlib>

#include "tiny.h"

int main(int count, char** arguments) {
  esc_model* const model = tiny_open(arguments[1]);
  if (model == nullptr) {
    std::printf("%s\n", tiny_error());
    return 1;
  }
  if (tiny_multiply(model, tiny_layer_at(0), "", 1, nullptr, 1, 1, nullptr) != cudaErrorNotReady) {
    return 3;  // nobody has prepared it
  }
  const esc_layer stranger = *tiny_layer_at(0);
  if (tiny_prepare(model, &stranger) != cudaErrorInvalidValue || tiny_layer("absent") != nullptr || tiny_layer_at(tiny_layer_count()) != nullptr) {
    return 4;
  }
  for (int at = 2; at + 1 < count; at += 2) {
    const esc_layer* const layer = tiny_layer(arguments[at]);
    if (layer == nullptr || layer->prepare(model, layer) != cudaSuccess) {
      std::printf("%s: %s\n", arguments[at], tiny_error());
      return 1;
    }
    std::printf("%s %d: ", layer->name, std::atoi(arguments[at + 1]));
    const int n = std::atoi(arguments[at + 1]);
    if (n % 2 != 0 ? layer->multiply(model, layer, "", 1, nullptr, 1, n, nullptr) != cudaSuccess
                   : layer->multiply_with(model, layer, "", 1, nullptr, 1, nullptr, n, nullptr) != cudaSuccess) {
      return 5;
    }
    if (layer->format_version != 2 || layer->has_epilogue != 0 || layer->operand_count != 0 || layer->operands != nullptr) {
      return 6;
    }
  }
  std::printf("%s\n", tiny_check(model) == 0 ? "whole" : tiny_error());
  tiny_close(model);
  return 0;
}
