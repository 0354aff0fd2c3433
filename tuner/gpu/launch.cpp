// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/launch.h"

#include <utility>

#include "tuner/gpu/device.h"
#include "tuner/gpu/tensor_map.h"

namespace esc::gpu {
namespace {

/// Places in `kernels_of` of the plan.
constexpr std::size_t main_kernel = 0;
constexpr std::size_t zeroing_kernel = 1;

void append(std::vector<void*>& arguments, std::vector<unsigned int>& sizes) {
  for (unsigned int& size : sizes) {
    arguments.push_back(&size);
  }
}

}  // namespace

LoadedKernels::LoadedKernels(const tuning::Cubin& cubin) {
  check(cudaLibraryLoadData(&library_, cubin.image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        "cudaLibraryLoadData");
  for (const std::string& symbol : cubin.symbols) {
    cudaKernel_t kernel = nullptr;
    const cudaError_t status = cudaLibraryGetKernel(&kernel, library_, symbol.c_str());
    if (status != cudaSuccess) {
      static_cast<void>(cudaLibraryUnload(library_));
      check(status, "cudaLibraryGetKernel");
    }
    kernels_.push_back(kernel);
  }
}

LoadedKernels::~LoadedKernels() { static_cast<void>(cudaLibraryUnload(library_)); }

void allow_shared_memory(const void* kernel, const Geometry& geometry) {
  constexpr std::size_t always_allowed = 48 * 1024;
  if (geometry.shared_bytes > always_allowed) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(geometry.shared_bytes)),
          "cudaFuncSetAttribute");
  }
}

void launch(const void* kernel, const Geometry& geometry, Edge edge, void** arguments, cudaStream_t stream) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(geometry.grid_x, geometry.grid_y);
  config.blockDim = dim3(geometry.threads);
  config.dynamicSmemBytes = geometry.shared_bytes;
  config.stream = stream;
  cudaLaunchAttribute overlap = {};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  if (edge == Edge::programmatic) {
    config.attrs = &overlap;
    config.numAttrs = 1;
  }
  check(cudaLaunchKernelExC(&config, kernel, arguments), "cudaLaunchKernelExC");
}

LayerLaunch::LayerLaunch(std::shared_ptr<const LoadedKernels> kernels, LaunchPlan plan)
    : kernels_(std::move(kernels)), plan_(std::move(plan)) {
  allow_shared_memory(kernels_->function(main_kernel), geometry());
}

Geometry LayerLaunch::geometry() const {
  return {.grid_x = plan_.grid_x,
          .grid_y = plan_.grid_y,
          .threads = plan_.threads,
          .shared_bytes = static_cast<std::size_t>(plan_.shared_bytes)};
}

void LayerLaunch::zero(const Operands& operands, Edge edge, cudaStream_t stream) const {
  if (plan_.zeroes_c) {
    check(cudaMemsetAsync(operands.c, 0, static_cast<std::size_t>(operands.rows) * operands.n * operands.element_bytes,
                          stream),
          "cudaMemsetAsync");
  }
  if (plan_.zeroing) {
    const void* packed = operands.packed;
    void* c = operands.c;
    long long ldc = operands.ldc;
    unsigned int n = operands.n;
    std::vector<unsigned int> sizes = plan_.zeroing->sizes;
    std::vector<void*> arguments{&packed, &c, &ldc, &n};
    append(arguments, sizes);
    launch(kernels_->function(zeroing_kernel), {.grid_x = plan_.zeroing->grid_x, .threads = plan_.zeroing->threads},
           edge, arguments.data(), stream);
  }
}

void LayerLaunch::operator()(const Operands& operands, Edge edge, cudaStream_t stream) const {
  zero(operands, edge, stream);
  const void* packed = operands.packed;
  const void* b = operands.b;
  void* c = operands.c;
  long long ldb = operands.ldb;
  long long ldc = operands.ldc;
  unsigned int n = operands.n;
  std::vector<unsigned int> sizes = plan_.sizes;
  std::vector<CArgument> epilogue = operands.epilogue;
  std::vector<void*> arguments{&packed, &b, &ldb, &c, &ldc};
  for (CArgument& one : epilogue) {
    arguments.push_back(std::visit([](auto& value) { return static_cast<void*>(&value); }, one));
  }
  arguments.push_back(&n);
  append(arguments, sizes);
  CUtensorMap boxes = {};
  if (plan_.boxes) {
    if (plan_.boxes->are_copied) {
      boxes = describe_boxes(*plan_.boxes, operands.b, operands.ldb, operands.n);
    }
    arguments.push_back(&boxes);
  }
  launch(kernels_->function(main_kernel), geometry(), edge, arguments.data(), stream);
}

}  // namespace esc::gpu
