// SPDX-License-Identifier: Apache-2.0
/* Asynchronous copies from global to shared memory. The copied bytes appear at the wait, never before. */
#pragma once
#include <cuda_runtime.h>

extern "C" {
ESC_RUNTIME void __esc_copy_async(void* shared, const void* global, size_t bytes, size_t zero_fill);
ESC_RUNTIME void __esc_copy_commit();
ESC_RUNTIME void __esc_copy_wait(size_t groups_left);
}

static inline void __pipeline_memcpy_async(void* __restrict__ shared, const void* __restrict__ global, size_t bytes,
                                           size_t zero_fill = 0) {
  __esc_copy_async(shared, global, bytes, zero_fill);
}
static inline void __pipeline_commit() { __esc_copy_commit(); }
static inline void __pipeline_wait_prior(size_t groups_left) { __esc_copy_wait(groups_left); }
