// SPDX-License-Identifier: Apache-2.0
// Opens the packed matrices of the model "tiny" and asks for products: FILE [LAYER N ...]. In place of kernels are
// functions that print their names and keep where the packed matrix is that they got.

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tiny.h"

extern const void* multiplied_by;

namespace {

/// Whether a product by memory of our own goes to the same kernel with the same packed matrix as another one.
bool multiplies_placed(const esc_model* model, const esc_layer* layer, int n, const void* expected) {
  constexpr std::size_t header_bytes = 256;
  const std::size_t bytes = layer->device_bytes(layer);
  const std::size_t whole = (bytes + header_bytes - 1) / header_bytes * header_bytes;
  unsigned char* const memory = static_cast<unsigned char*>(std::aligned_alloc(header_bytes, whole + header_bytes));
  std::memset(memory, 0xcd, whole + header_bytes);
  bool is_right = layer->place(model, layer, memory + 8, nullptr) == cudaErrorInvalidValue &&
                  layer->place(model, layer, memory, nullptr) == cudaSuccess;
  for (std::size_t at = bytes; at < whole + header_bytes; ++at) {
    is_right = is_right && memory[at] == 0xcd;
  }
  std::printf("placed: ");
  is_right = is_right && layer->multiply_placed(layer, memory, "", 1, nullptr, 1, nullptr, n, nullptr) == cudaSuccess;
  const unsigned char* const found = static_cast<const unsigned char*>(multiplied_by);
  is_right = is_right && found >= memory && found + header_bytes <= memory + bytes &&
             std::memcmp(found, expected, header_bytes) == 0;
  std::free(memory);
  return is_right &&
         bytes < layer->packed_bytes + layer->bcol_count * header_bytes;  // each begins at a multiple of so many
}

}  // namespace

int main(int count, char** arguments) {
  esc_model* const model = tiny_open(arguments[1]);
  if (model == nullptr) {
    std::printf("%s\n", tiny_error());
    return 1;
  }
  if (tiny_multiply(model, tiny_layer_at(0), "", 1, nullptr, 1, 1, nullptr) != cudaErrorNotReady) {
    return 3;  // nobody has prepared it
  }
  if (tiny_unpack(model, tiny_layer_at(0), arguments, 100, nullptr) != cudaErrorNotReady) {
    return 3;
  }
  alignas(256) static unsigned char nothing[256];
  if (tiny_multiply_placed(tiny_layer_at(0), nothing, "", 1, nullptr, 1, nullptr, 1, nullptr) != cudaErrorNotReady) {
    return 7;  // nor placed it
  }
  const esc_layer stranger = *tiny_layer_at(0);
  if (tiny_prepare(model, &stranger) != cudaErrorInvalidValue || tiny_device_bytes(&stranger) != 0 ||
      tiny_place(model, &stranger, nothing, nullptr) != cudaErrorInvalidValue ||
      tiny_multiply_placed(&stranger, nothing, "", 1, nullptr, 1, nullptr, 1, nullptr) != cudaErrorInvalidValue ||
      tiny_layer("absent") != nullptr || tiny_layer_at(tiny_layer_count()) != nullptr) {
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
    if (!multiplies_placed(model, layer, n, multiplied_by)) {
      return 8;
    }
    if (layer->unpack != nullptr || layer->unpack_placed != nullptr ||
        tiny_unpack(model, layer, arguments, 100, nullptr) != cudaErrorNotSupported) {
      return 9;
    }
    if (layer->values != nullptr || layer->values_placed != nullptr ||
        tiny_values(model, layer, arguments, 100, nullptr) != cudaErrorNotSupported) {
      return 10;
    }
    if (layer->format_version != 4 || layer->has_epilogue != 0 || layer->operand_count != 0 ||
        layer->operands != nullptr) {
      return 6;
    }
  }
  std::printf("%s\n", tiny_check(model) == 0 ? "whole" : tiny_error());
  tiny_close(model);
  return 0;
}
