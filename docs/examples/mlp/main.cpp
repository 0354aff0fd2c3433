// SPDX-License-Identifier: Apache-2.0
// Runs the network of docs/tutorial.md, its products captured in a CUDA graph: mlp MODEL.packed X.bin Y.bin
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <vector>

#include "model.h"

namespace {

std::vector<float> read_floats(const char* file, std::size_t count) {
  std::vector<float> values(count);
  std::ifstream(file, std::ios::binary)
      .read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(float)));
  return values;
}

float* device_floats(std::size_t count) {
  void* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(float));
  return static_cast<float*>(memory);
}

}  // namespace

int main(int count, char** arguments) {
  constexpr int n = 16;
  esc_model* const model = count == 4 ? model_open(arguments[1]) : nullptr;
  if (model == nullptr || model_prepare(model, nullptr) != cudaSuccess) {
    std::fprintf(stderr, "%s\n", count == 4 ? model_error() : "usage: mlp MODEL.packed X.bin Y.bin");
    return 1;
  }
  const esc_layer* const up = model_layer("up.weight");
  const esc_layer* const down = model_layer("down.weight");
  const std::vector<float> x = read_floats(arguments[2], up->k * n);
  const std::vector<float> expected = read_floats(arguments[3], down->m * n);
  float* const input = device_floats(x.size());
  float* const hidden = device_floats(up->m * n);
  float* const output = device_floats(expected.size());
  cudaMemcpy(input, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);

  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t network = nullptr;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  model_multiply(model, up, input, n, hidden, n, n, stream);
  model_multiply(model, down, hidden, n, output, n, n, stream);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&network, graph, 0);
  cudaError_t status = cudaGraphLaunch(network, stream);

  std::vector<float> y(expected.size());
  if (status == cudaSuccess) {
    status = cudaMemcpy(y.data(), output, y.size() * sizeof(float), cudaMemcpyDeviceToHost);
  }
  float largest = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const float difference = std::abs(y[i] - expected[i]);
    largest = difference <= largest ? largest : difference;  // a difference that is no number is the largest
  }
  std::printf("%s; the largest difference is %g\n", cudaGetErrorString(status), largest);
  model_close(model);
  return status == cudaSuccess && largest < 1e-4f ? 0 : 1;
}
