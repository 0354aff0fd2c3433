// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace esc {

/// The few functions of the CUDA runtime that a check needs, from its shared library: so that programs are built
/// without the toolkit and run where there is no GPU.
class CudaRuntime {
 public:
  /// Throws UserError (status missing_tool) when the library or a GPU is missing.
  CudaRuntime();
  /// The same check alone, for who is about to do something on the way there.
  static void expect_device() { const CudaRuntime runtime; }
  CudaRuntime(const CudaRuntime&) = delete;
  CudaRuntime& operator=(const CudaRuntime&) = delete;
  ~CudaRuntime();

  /// Device memory; never null. Throws UserError (status missing_tool) when there is not enough.
  void* allocate(std::size_t bytes) const;
  void release(void* memory) const noexcept;
  void copy_to_device(void* to, const void* from, std::size_t bytes) const;
  void fill(void* memory, int byte, std::size_t bytes) const;
  void copy_to_host(void* to, const void* from, std::size_t bytes) const;
  /// Waits for the device; the error of anything before, as text, or empty.
  std::string synchronize() const;
  std::string error_text(int error) const;
  /// A stream of its own, which waits for no other.
  void* create_stream() const;
  void destroy_stream(void* stream) const noexcept;

 private:
  void* library_ = nullptr;
  int (*malloc_)(void**, std::size_t) = nullptr;
  int (*free_)(void*) = nullptr;
  int (*copy_)(void*, const void*, std::size_t, int) = nullptr;
  int (*fill_)(void*, int, std::size_t) = nullptr;
  int (*synchronize_)() = nullptr;
  int (*count_)(int*) = nullptr;
  const char* (*text_)(int) = nullptr;
  int (*create_stream_)(void**, unsigned int) = nullptr;
  int (*destroy_stream_)(void*) = nullptr;
};

/// Device memory that is released with this object.
class DeviceBuffer {
 public:
  DeviceBuffer(const CudaRuntime& runtime, std::size_t bytes) : runtime_(runtime), memory_(runtime.allocate(bytes)) {}
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() { runtime_.release(memory_); }

  void* get() const { return memory_; }

 private:
  const CudaRuntime& runtime_;
  void* memory_;
};

/// A stream that ends with this object.
class DeviceStream {
 public:
  explicit DeviceStream(const CudaRuntime& runtime) : runtime_(runtime), stream_(runtime.create_stream()) {}
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;
  ~DeviceStream() { runtime_.destroy_stream(stream_); }

  void* get() const { return stream_; }

 private:
  const CudaRuntime& runtime_;
  void* stream_;
};

}  // namespace esc
