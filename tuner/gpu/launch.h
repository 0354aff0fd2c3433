// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "generator/emit/launch_plan.h"
#include "generator/verify/c_call.h"
#include "tuner/build/kernel_text.h"

namespace esc::gpu {

/// A text's kernels on the device, for as long as this object lives.
class LoadedKernels {
 public:
  /// Throws DeviceError when the device does not take the code.
  explicit LoadedKernels(const tuning::Cubin& cubin);
  LoadedKernels(const LoadedKernels&) = delete;
  LoadedKernels& operator=(const LoadedKernels&) = delete;
  ~LoadedKernels();

  /// A kernel, by its place in the code's list of symbols, as the functions of the CUDA runtime take it.
  const void* function(std::size_t index) const { return kernels_[index]; }

 private:
  cudaLibrary_t library_ = nullptr;
  std::vector<cudaKernel_t> kernels_;
};

/// What a launch depends on the one before it by.
enum class Edge {
  plain,         ///< it begins when that one has ended
  programmatic,  ///< it may begin earlier, and waits itself
};

/// How kernels are launched here.
struct Geometry {
  unsigned int grid_x = 1;
  unsigned int grid_y = 1;
  unsigned int threads = 32;
  std::size_t shared_bytes = 0;  ///< of dynamic shared memory
};

/// Allows the kernel as much dynamic shared memory as the geometry has. Throws DeviceError when that is more than a
/// block can have.
void allow_shared_memory(const void* kernel, const Geometry& geometry);

/// Launches the kernel. Throws DeviceError.
void launch(const void* kernel, const Geometry& geometry, Edge edge, void** arguments, cudaStream_t stream);

/// The arrays of one product, on the device: packed matrix, B and C without gaps, and what its epilogue reads.
struct Operands {
  const void* packed = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  std::size_t element_bytes = sizeof(float);  ///< of B and C
  std::int64_t rows = 0;                      ///< of C
  unsigned int n = 0;                         ///< columns of C
  long long ldb = n;
  long long ldc = n;
  std::vector<CArgument> epilogue = {};  ///< in the order of the kernel's parameters
};

/// A layer's kernels, ready to be launched as its own launcher would.
class LayerLaunch {
 public:
  /// Throws DeviceError when the kernel cannot have the shared memory that the plan asks for.
  LayerLaunch(std::shared_ptr<const LoadedKernels> kernels, LaunchPlan plan);

  const LaunchPlan& plan() const { return plan_; }
  Geometry geometry() const;
  /// Sets C or some rows of it to zero if the plan says so, and launches. Throws DeviceError.
  void operator()(const Operands& operands, Edge edge, cudaStream_t stream) const;

 private:
  void zero(const Operands& operands, Edge edge, cudaStream_t stream) const;

  std::shared_ptr<const LoadedKernels> kernels_;
  LaunchPlan plan_;
};

}  // namespace esc::gpu
