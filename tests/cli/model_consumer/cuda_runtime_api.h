// SPDX-License-Identifier: Apache-2.0
// Stands for the CUDA runtime where there is no GPU: the memory of the device is that of the host, and there is one
// device, of compute capability CAPABILITY.
#pragma once

#include <stdlib.h>
#include <string.h>

typedef enum cudaError {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidDevice = 101,
  cudaErrorNotReady = 600,
  cudaErrorNotSupported = 801
} cudaError_t;
typedef void* cudaStream_t;
typedef enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1 } cudaMemcpyKind;
typedef enum cudaDeviceAttr {
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76
} cudaDeviceAttr;

static inline const char* cudaGetErrorString(cudaError_t status) {
  return status == cudaSuccess ? "no error" : "an error";
}
static inline cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
static inline cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }
static inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  (void)device;
  return *value = attribute == cudaDevAttrComputeCapabilityMajor ? CAPABILITY / 10 : CAPABILITY % 10, cudaSuccess;
}
static inline cudaError_t cudaMalloc(void** memory, size_t bytes) {
  return (*memory = malloc(bytes)) != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
}
static inline cudaError_t cudaFree(void* memory) { return free(memory), cudaSuccess; }
static inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                          cudaStream_t stream) {
  (void)kind;
  (void)stream;
  return memcpy(to, from, bytes), cudaSuccess;
}
static inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  (void)stream;
  return cudaSuccess;
}
