// SPDX-License-Identifier: Apache-2.0
/* Stand-in for <cuda_bf16.h>: the upper halves of numbers of type float. Without implicit conversions and operators, as
 * cuda_fp16.h. */
#pragma once
#include <cuda_runtime.h>

struct alignas(2) __nv_bfloat16 {
  __nv_bfloat16() = default;
  /* CUDA's conversions, so that a text finds the same functions for such a number. None is defined: whoever uses one is
   * refused. */
  __nv_bfloat16(float);
  __nv_bfloat16(double);
  __nv_bfloat16(short);
  __nv_bfloat16(unsigned short);
  __nv_bfloat16(int);
  __nv_bfloat16(unsigned);
  __nv_bfloat16(long);
  __nv_bfloat16(unsigned long);
  __nv_bfloat16(long long);
  __nv_bfloat16(unsigned long long);
  operator float() const;
  operator signed char() const;
  operator unsigned char() const;
  operator char() const;
  operator short() const;
  operator unsigned short() const;
  operator int() const;
  operator unsigned() const;
  operator long() const;
  operator unsigned long() const;
  operator long long() const;
  operator unsigned long long() const;
  operator bool() const;

 protected:
  unsigned short __x;
};

struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};

static inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  return __builtin_bit_cast(__nv_bfloat16, bits);
}
static inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) {
  return __builtin_bit_cast(unsigned short, value);
}

/* Exact, bit by bit. */
static inline float __bfloat162float(__nv_bfloat16 value) {
  return __builtin_bit_cast(float, (unsigned)__bfloat16_as_ushort(value) << 16);
}

/* To the nearest, ties to even; beyond the largest number to infinity; a NaN becomes 0x7fff. */
static inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  const unsigned bits = __builtin_bit_cast(unsigned, value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return __ushort_as_bfloat16(0x7fff);
  }
  return __ushort_as_bfloat16((unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16));
}
