// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/device.h"

#include <algorithm>
#include <array>

#include "generator/support/error.h"

namespace esc::gpu {
namespace {

constexpr std::size_t alignment = 256;

int attribute(cudaDeviceAttr which) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, 0), "cudaDeviceGetAttribute");
  return value;
}

[[noreturn]] void refuse(cudaError_t status) {
  throw UserError("gpu", std::string("there is none that this program can use: ") + cudaGetErrorString(status),
                  "run it on a machine with an NVIDIA GPU and a driver of CUDA 13 or newer", ExitStatus::missing_tool);
}

}  // namespace

void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess) {
    const bool too_much = status == cudaErrorMemoryAllocation || status == cudaErrorLaunchOutOfResources;
    throw DeviceError(call, std::string(cudaGetErrorName(status)) + ", " + cudaGetErrorString(status), too_much);
  }
}

DeviceFacts open_device() {
  int devices = 0;
  cudaError_t status = cudaGetDeviceCount(&devices);
  if (status == cudaSuccess && devices == 0) {
    status = cudaErrorNoDevice;
  }
  if (status == cudaSuccess) {
    status = cudaSetDevice(0);
  }
  if (status != cudaSuccess) {
    refuse(status);
  }
  cudaDeviceProp properties = {};
  check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  DeviceFacts facts{.name = properties.name,
                    .architecture = 10 * properties.major + properties.minor,
                    .multiprocessors = properties.multiProcessorCount,
                    .l2_bytes = static_cast<std::uint64_t>(properties.l2CacheSize),
                    .memory_bytes = properties.totalGlobalMem,
                    .clock_megahertz = attribute(cudaDevAttrClockRate) / 1000};
  std::array<char, 32> bus_id = {};
  check(cudaDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()), 0), "cudaDeviceGetPCIBusId");
  facts.bus_id = bus_id.data();
  check(cudaDriverGetVersion(&facts.driver_version), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&facts.runtime_version), "cudaRuntimeGetVersion");
  return facts;
}

bool still_works() {
  static_cast<void>(cudaGetLastError());
  const cudaError_t status = cudaDeviceSynchronize();
  static_cast<void>(cudaGetLastError());
  return status == cudaSuccess;
}

Buffer::Buffer(std::size_t bytes) : bytes_(bytes) {
  check(cudaMalloc(&memory_, std::max<std::size_t>(bytes, 1)), "cudaMalloc");
}

// Releasing can only report the errors of earlier work, which whoever waits for that work sees.
Buffer::~Buffer() { static_cast<void>(cudaFree(memory_)); }

Copies::Copies(std::span<const std::byte> content, std::size_t count)
    : stride_((std::max<std::size_t>(content.size(), 1) + alignment - 1) / alignment * alignment),
      count_(count),
      memory_(stride_ * count) {
  assign(content);
}

void Copies::assign(std::span<const std::byte> content) {
  ESC_CHECK(content.size() <= stride_ && count_ > 0, "the content fits into a copy");
  check(cudaMemcpy(memory_.as<void>(), content.data(), content.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
  // The number of finished copies doubles, so that tens of thousands of small ones take few calls.
  for (std::size_t done = 1; done < count_; done *= 2) {
    const std::size_t more = std::min(done, count_ - done);
    check(cudaMemcpy(at<void>(done), at<void>(0), more * stride_, cudaMemcpyDeviceToDevice), "cudaMemcpy");
  }
  // Copies within the device do not wait by themselves, and streams here do not wait for the default stream.
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

Stream::Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }
Stream::~Stream() { static_cast<void>(cudaStreamDestroy(stream_)); }

void wake(const Stream& stream) {
  constexpr std::size_t bytes = std::size_t{256} << 20;
  constexpr int passes = 150;
  const Buffer buffer(bytes);
  for (int pass = 0; pass < passes; ++pass) {
    check(cudaMemsetAsync(buffer.as<void>(), pass, bytes, stream.get()), "cudaMemsetAsync");
  }
  stream.wait();
}

Event::Event() { check(cudaEventCreate(&event_), "cudaEventCreate"); }

Event::~Event() {
  if (event_ != nullptr) {
    static_cast<void>(cudaEventDestroy(event_));
  }
}

double Event::until(const Event& later) const {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, event_, later.event_), "cudaEventElapsedTime");
  return 1000.0 * static_cast<double>(milliseconds);
}

}  // namespace esc::gpu
