// SPDX-License-Identifier: Apache-2.0
/* Stand-in for <cuda_fp16.h>: numbers of 16 bits with 10 bits of mantissa. No implicit conversions and no operators
 * can be used, as under -D__CUDA_NO_HALF_CONVERSIONS__, so that a text that runs here compiles with that as well. The
 * conversions are integer code: what the host's processor or its libraries make of such numbers does not matter. */
#pragma once
#include <cuda_runtime.h>

struct alignas(2) __half {
  __half() = default;
  /* CUDA's conversions, so that a text finds the same functions for such a number. None is defined: whoever uses one is
   * refused. */
  __half(float);
  __half(double);
  __half(short);
  __half(unsigned short);
  __half(int);
  __half(unsigned);
  __half(long);
  __half(unsigned long);
  __half(long long);
  __half(unsigned long long);
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

struct alignas(4) __half2 {
  __half x, y;
};

static inline __half __ushort_as_half(unsigned short bits) { return __builtin_bit_cast(__half, bits); }
static inline unsigned short __half_as_ushort(__half value) { return __builtin_bit_cast(unsigned short, value); }

/* Exact. A NaN becomes the one NaN of the hardware. */
static inline float __half2float(__half value) {
  const unsigned bits = __half_as_ushort(value);
  const unsigned sign = (bits & 0x8000u) << 16;
  const unsigned exponent = bits >> 10 & 31u;
  const unsigned mantissa = bits & 0x3ffu;
  if (exponent == 31u) {
    return __builtin_bit_cast(float, mantissa != 0 ? 0x7fffffffu : sign | 0x7f800000u);
  }
  if (exponent != 0) {
    return __builtin_bit_cast(float, sign | (exponent + 112u) << 23 | mantissa << 13);
  }
  if (mantissa == 0) {
    return __builtin_bit_cast(float, sign);
  }
  const unsigned leading = 31u - (unsigned)__builtin_clz(mantissa); /* the number is 2^(leading - 24) and more */
  return __builtin_bit_cast(float, sign | (leading + 103u) << 23 | (mantissa << (23u - leading) & 0x7fffffu));
}

/* As esc_inline_ptx.h rounds. */
static inline __half __float2half_rn(float value) { return __ushort_as_half((unsigned short)__esc_half_bits(value)); }
