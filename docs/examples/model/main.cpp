// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <vector>

#include "layers.h"

int main(int, char** arguments) {
  esc_model* const model = layers_open(arguments[1]);
  std::printf("%zu layers\n", model == nullptr ? 0 : layers_layer_count());
  if (model == nullptr || layers_prepare(model, nullptr) != cudaSuccess) {
    std::printf("%s\n", layers_error());
    return 1;
  }
  const esc_layer* const up = layers_layer("up_proj.weight");
  const int n = 16;
  const std::vector<float> b(up->k * n, 1.0F);
  std::vector<float> c(up->m * n);
  void* device_b = nullptr;
  void* device_c = nullptr;
  cudaMalloc(&device_b, b.size() * sizeof(float));
  cudaMalloc(&device_c, c.size() * sizeof(float));
  cudaMemcpy(device_b, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaError_t status = layers_multiply(model, up, device_b, n, device_c, n, n, nullptr);
  if (status == cudaSuccess) status = cudaMemcpy(c.data(), device_c, c.size() * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%s: the first sum is %g\n", cudaGetErrorString(status), c[0]);
  layers_close(model);
  return status == cudaSuccess ? 0 : 1;
}
