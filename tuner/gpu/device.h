// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace esc::gpu {

/// A call of a CUDA library that failed: what was called and what it answered.
class DeviceError : public std::runtime_error {
 public:
  DeviceError(const std::string& call, const std::string& answer, bool asks_for_too_much = false)
      : std::runtime_error(call + ": " + answer), asks_for_too_much_(asks_for_too_much) {}

  /// Whether the device lacks what was asked for: memory, or registers and shared memory for a block.
  bool asks_for_too_much() const { return asks_for_too_much_; }

 private:
  bool asks_for_too_much_;
};

/// Throws DeviceError, with the call's name, for every status but success.
void check(cudaError_t status, const char* call);

/// What a measurement depends on.
struct DeviceFacts {
  std::string name;
  int architecture = 0;  ///< 90 for compute capability 9.0
  int multiprocessors = 0;
  std::uint64_t l2_bytes = 0;
  std::uint64_t memory_bytes = 0;
  int clock_megahertz = 0;  ///< the highest clock of the multiprocessors
  int driver_version = 0;   ///< as CUDA counts, 13000 for 13.0
  int runtime_version = 0;
  std::string bus_id = {};  ///< where it is in this machine
  bool operator==(const DeviceFacts&) const = default;
};

/// Takes the first GPU of this machine into use. Throws UserError (status missing_tool) when there is none or its
/// driver is too old for this program.
DeviceFacts open_device();

/// Whether the device still works after an error; forgets the error if so. After an access out of bounds, for example,
/// it does not, whatever is called.
bool still_works();

/// Device memory that is released with this object; it begins at a multiple of 256 bytes.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes);
  Buffer(Buffer&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Buffer();

  std::size_t bytes() const { return bytes_; }
  template <typename T>
  T* as(std::size_t offset = 0) const {
    return reinterpret_cast<T*>(static_cast<std::byte*>(memory_) + offset);
  }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Equal copies of some bytes in device memory, each at a multiple of 256 bytes.
class Copies {
 public:
  Copies() = default;
  /// Copies what the host has, and waits for it.
  Copies(std::span<const std::byte> content, std::size_t count);
  template <typename T>
  Copies(std::span<const T> content, std::size_t count) : Copies(std::as_bytes(content), count) {}

  std::size_t count() const { return count_; }
  /// Replaces the content of all copies by content that is not longer than the memory of one.
  void assign(std::span<const std::byte> content);
  std::size_t stride() const { return stride_; }

  template <typename T>
  T* at(std::size_t copy) const {
    return memory_.as<T>(copy * stride_);
  }

 private:
  std::size_t stride_ = 0;
  std::size_t count_ = 0;
  Buffer memory_;
};

/// A stream that does not wait for the default stream.
class Stream {
 public:
  Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();

  cudaStream_t get() const { return stream_; }
  void wait() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Keeps the device busy for about ten milliseconds, so that an idle one raises its clocks before it is measured.
void wake(const Stream& stream);

/// A point in a stream, with its time.
class Event {
 public:
  Event();
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&&) = delete;
  ~Event();

  void record(const Stream& stream) const { check(cudaEventRecord(event_, stream.get()), "cudaEventRecord"); }
  void wait() const { check(cudaEventSynchronize(event_), "cudaEventSynchronize"); }
  /// Microseconds from this event to a later one; both have happened.
  double until(const Event& later) const;

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace esc::gpu
