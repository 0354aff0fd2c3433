// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/cuda_runtime.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "generator/support/error.h"

namespace esc {
namespace {

constexpr int host_to_device = 1;
constexpr int device_to_host = 2;

[[noreturn]] void refuse(const std::string& rule, const std::string& remedy) {
  throw UserError("gpu", rule, remedy, ExitStatus::missing_tool);
}

void* open_runtime() {
  for (const char* name : {"libcudart.so", "libcudart.so.13", "libcudart.so.12", "/usr/local/cuda/lib64/libcudart.so",
                           "/usr/local/cuda/lib64/libcudart.so.13", "/usr/local/cuda/lib64/libcudart.so.12"}) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
      return library;
    }
  }
  refuse("the CUDA runtime (libcudart.so) is not on this machine", "install the CUDA toolkit, or verify by emulation");
}

template <typename Function>
void resolve(void* library, const char* symbol, Function& function) {
  void* address = dlsym(library, symbol);
  ESC_CHECK(address != nullptr, fmt::format("the CUDA runtime has {}", symbol));
  function = reinterpret_cast<Function>(address);
}

}  // namespace

CudaRuntime::CudaRuntime() : library_(open_runtime()) {
  resolve(library_, "cudaMalloc", malloc_);
  resolve(library_, "cudaFree", free_);
  resolve(library_, "cudaMemcpy", copy_);
  resolve(library_, "cudaMemset", fill_);
  resolve(library_, "cudaDeviceSynchronize", synchronize_);
  resolve(library_, "cudaGetDeviceCount", count_);
  resolve(library_, "cudaGetErrorString", text_);
  resolve(library_, "cudaStreamCreateWithFlags", create_stream_);
  resolve(library_, "cudaStreamDestroy", destroy_stream_);
  int devices = 0;
  const int error = count_(&devices);
  if (error != 0 || devices == 0) {
    const std::string reason = error != 0 ? error_text(error) : "no device";
    dlclose(library_);
    refuse(fmt::format("there is no GPU on this machine ({})", reason), "verify by emulation: leave --device out");
  }
}

CudaRuntime::~CudaRuntime() { dlclose(library_); }

void* CudaRuntime::allocate(std::size_t bytes) const {
  void* memory = nullptr;
  const int error = malloc_(&memory, bytes == 0 ? 1 : bytes);
  if (error != 0) {
    refuse(fmt::format("{} bytes of device memory are not to be had: {}", bytes, error_text(error)),
           "use a larger GPU");
  }
  return memory;
}

void CudaRuntime::release(void* memory) const noexcept { free_(memory); }

void CudaRuntime::copy_to_device(void* to, const void* from, std::size_t bytes) const {
  const int error = copy_(to, from, bytes, host_to_device);
  ESC_CHECK(error == 0, "copying to the device: " + error_text(error));
}

void CudaRuntime::fill(void* memory, int byte, std::size_t bytes) const {
  const int error = fill_(memory, byte, bytes);
  ESC_CHECK(error == 0, "filling memory of the device: " + error_text(error));
}

void CudaRuntime::copy_to_host(void* to, const void* from, std::size_t bytes) const {
  const int error = copy_(to, from, bytes, device_to_host);
  ESC_CHECK(error == 0, "copying from the device: " + error_text(error));
}

std::string CudaRuntime::synchronize() const {
  const int error = synchronize_();
  return error == 0 ? std::string() : error_text(error);
}

void* CudaRuntime::create_stream() const {
  constexpr unsigned int waits_for_no_other = 1;
  void* stream = nullptr;
  const int error = create_stream_(&stream, waits_for_no_other);
  ESC_CHECK(error == 0, "making a stream: " + error_text(error));
  return stream;
}

void CudaRuntime::destroy_stream(void* stream) const noexcept { destroy_stream_(stream); }

std::string CudaRuntime::error_text(int error) const { return text_(error); }

}  // namespace esc
