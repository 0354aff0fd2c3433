// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <list>
#include <span>
#include <string_view>
#include <vector>

#include "generator/verify/cuda_runtime.h"
#include "generator/verify/shared_library.h"

namespace esc {

/// The CUDA text of the kernel that is before the one that is checked.
extern const std::string_view predecessor_source;

/// What a compiled library of that text is called, beside the bundles that it is for.
inline constexpr const char* predecessor_library = "predecessor.so";

/// A kernel that lets the one after it in the stream begin at once, and after about a millisecond writes what that one
/// reads: as in deployments where launches overlap, only later. Any kernel that does not wait for it reads NaN.
class Predecessor {
 public:
  /// Throws UserError when the file is not the compiled text, or cannot be run here.
  Predecessor(const CudaRuntime& runtime, const std::filesystem::path& library);

  /// Launches it; the cudaError_t. `writes` are `count` of LateWrites, in device memory.
  int launch(const void* writes, std::size_t count, void* stream) const;

 private:
  SharedLibrary library_;
  int (*launch_)(const void*, int, void*);
};

/// Device memory that a predecessor writes. It has NaN in it before.
class LateWrites {
 public:
  explicit LateWrites(const CudaRuntime& runtime) : runtime_(runtime) {}

  /// What will be written to device memory: elements of two bytes or more.
  void add(void* to, std::span<const std::byte> contents);
  /// Has them written by the predecessor; the cudaError_t. They stay until this ends, which must be after the stream
  /// has got there.
  int launch(const Predecessor& predecessor, void* stream);

 private:
  /// As the text of the predecessor has it.
  struct Write {
    void* to;
    const void* from;
    std::uint64_t bytes;
  };

  const CudaRuntime& runtime_;
  std::list<DeviceBuffer> buffers_;
  std::vector<Write> writes_;
};

}  // namespace esc
