// SPDX-License-Identifier: Apache-2.0
/* What the statements of inline PTX that the emulator knows are translated to (inline_ptx.h): calls with the operands
 * of the statement in their order. An operand with constraint "r" has 32 bits, one with "l" 64, as nvcc demands. */
#pragma once

struct __esc_operand {
  unsigned bits;
  __esc_operand(unsigned value) : bits(value) {}
  __esc_operand(int value) : bits((unsigned)value) {}
  template <class T>
  __esc_operand(T) = delete;
};

struct __esc_wide_operand {
  unsigned long long bits;
  __esc_wide_operand(unsigned long long value) : bits(value) {}
  __esc_wide_operand(unsigned long value) : bits(value) {}
  __esc_wide_operand(long long value) : bits((unsigned long long)value) {}
  __esc_wide_operand(long value) : bits((unsigned long long)value) {}
  __esc_wide_operand(const void* value) : bits((unsigned long long)value) {}
  __esc_wide_operand(int) = delete;
  __esc_wide_operand(unsigned) = delete;
};

extern "C" {
ESC_RUNTIME unsigned long long __esc_shared_address(const void* pointer);
ESC_RUNTIME void __esc_load_matrices(unsigned* registers, unsigned address, unsigned matrices, unsigned transposed);
ESC_RUNTIME unsigned __esc_transpose_matrix(unsigned elements);
ESC_RUNTIME void __esc_multiply_matrices(float* sums, const unsigned* a, const unsigned* b, unsigned metadata,
                                         unsigned product);
ESC_RUNTIME void __esc_barrier_init(unsigned barrier, unsigned count);
ESC_RUNTIME void __esc_barrier_arrive(unsigned barrier);
ESC_RUNTIME void __esc_barrier_arrive_expecting(unsigned barrier, unsigned bytes);
ESC_RUNTIME void __esc_barrier_wait(unsigned barrier, unsigned parity);
ESC_RUNTIME void __esc_fence_copies();
ESC_RUNTIME void __esc_fence_proxy();
ESC_RUNTIME unsigned __esc_load_shared(unsigned address);
ESC_RUNTIME void __esc_copy_async_piece(unsigned target, unsigned long long source, unsigned bytes);
ESC_RUNTIME void __esc_copy_bulk(unsigned target, unsigned long long source, unsigned bytes, unsigned barrier);
ESC_RUNTIME unsigned long long __esc_create_policy(unsigned stays);
ESC_RUNTIME void __esc_check_policy(unsigned long long policy);
ESC_RUNTIME unsigned __esc_load_global(unsigned long long address);
ESC_RUNTIME void __esc_copy_tensor(unsigned target, unsigned long long map, unsigned x, unsigned y, unsigned barrier);
ESC_RUNTIME void __esc_fence_products();
ESC_RUNTIME void __esc_issue_product(float* const* registers, const float* values, unsigned sums, const unsigned* a,
                                     const unsigned* const* places_of_a, unsigned long long descriptor, unsigned adds,
                                     unsigned product);
ESC_RUNTIME void __esc_commit_products();
ESC_RUNTIME void __esc_wait_for_products(unsigned pending);
ESC_RUNTIME void __esc_exchange_registers(unsigned registers, unsigned takes);
ESC_RUNTIME void __esc_named_barrier(unsigned number, unsigned threads, int waits);
ESC_RUNTIME void __esc_cluster_meet();
ESC_RUNTIME unsigned __esc_cluster_map(unsigned address, unsigned rank);
ESC_RUNTIME void __esc_cluster_store(unsigned mapped, unsigned first, unsigned second, unsigned third, unsigned fourth);
}

/* An operand with constraint "r" that is read until a wait: a variable must stay what it is until then. */
struct __esc_kept_operand {
  unsigned bits;
  const unsigned* place;
  __esc_kept_operand(const unsigned& variable) : bits(variable), place(&variable) {}
  __esc_kept_operand(const int& variable) : bits((unsigned)variable), place((const unsigned*)&variable) {}
  __esc_kept_operand(unsigned&& value) : bits(value), place(nullptr) {}
  __esc_kept_operand(int&& value) : bits((unsigned)value), place(nullptr) {}
  template <class T>
  __esc_kept_operand(T) = delete;
};

/* An operand with constraint "f". */
struct __esc_float_operand {
  float value;
  __esc_float_operand(float value_) : value(value_) {}
  template <class T>
  __esc_float_operand(T) = delete;
};

static inline size_t __cvta_generic_to_shared(const void* pointer) { return __esc_shared_address(pointer); }

template <unsigned transposed>
static inline void __esc_ldmatrix(unsigned& d0, __esc_operand address) {
  unsigned d[1];
  __esc_load_matrices(d, address.bits, 1, transposed);
  d0 = d[0];
}
template <unsigned transposed>
static inline void __esc_ldmatrix(unsigned& d0, unsigned& d1, __esc_operand address) {
  unsigned d[2];
  __esc_load_matrices(d, address.bits, 2, transposed);
  d0 = d[0], d1 = d[1];
}
template <unsigned transposed>
static inline void __esc_ldmatrix(unsigned& d0, unsigned& d1, unsigned& d2, unsigned& d3, __esc_operand address) {
  unsigned d[4];
  __esc_load_matrices(d, address.bits, 4, transposed);
  d0 = d[0], d1 = d[1], d2 = d[2], d3 = d[3];
}

static inline void __esc_load_word(unsigned& word, __esc_operand address) { word = __esc_load_shared(address.bits); }
static inline void __esc_copy_piece(__esc_operand target, __esc_wide_operand source, __esc_operand bytes) {
  __esc_copy_async_piece(target.bits, source.bits, bytes.bits);
}

static inline void __esc_movmatrix(unsigned& d, __esc_operand a) { d = __esc_transpose_matrix(a.bits); }

/* `product` is the number of the instruction (matrix_fragments.h). */
template <unsigned product>
static inline void __esc_mma(float& c0, float& c1, float& c2, float& c3, __esc_operand a0, __esc_operand a1,
                             __esc_operand a2, __esc_operand a3, __esc_operand b0, __esc_operand b1) {
  float c[4] = {c0, c1, c2, c3};
  const unsigned a[4] = {a0.bits, a1.bits, a2.bits, a3.bits};
  const unsigned b[2] = {b0.bits, b1.bits};
  __esc_multiply_matrices(c, a, b, 0, product);
  c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
}
template <unsigned product>
static inline void __esc_mma(float& c0, float& c1, float& c2, float& c3, __esc_operand a0, __esc_operand a1,
                             __esc_operand a2, __esc_operand a3, __esc_operand b0, __esc_operand b1, __esc_operand b2,
                             __esc_operand b3, __esc_operand metadata) {
  float c[4] = {c0, c1, c2, c3};
  const unsigned a[4] = {a0.bits, a1.bits, a2.bits, a3.bits};
  const unsigned b[4] = {b0.bits, b1.bits, b2.bits, b3.bits};
  __esc_multiply_matrices(c, a, b, metadata.bits, product);
  c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
}

static inline void __esc_wgmma_fence() { __esc_fence_products(); }
static inline void __esc_wgmma_commit() { __esc_commit_products(); }
static inline void __esc_wgmma_wait() { __esc_wait_for_products(0); }
static inline void __esc_wgmma_wait(__esc_operand pending) { __esc_wait_for_products(pending.bits); }
static inline void __esc_take_registers(__esc_operand registers) { __esc_exchange_registers(registers.bits, 1); }
static inline void __esc_leave_registers(__esc_operand registers) { __esc_exchange_registers(registers.bits, 0); }
static inline void __esc_keep(float&) {}
static inline void __esc_keep_operand(unsigned&, unsigned&, unsigned&, unsigned&) {}
/* The operands of a product of a warpgroup, one after the other: the registers of D, of A, where B is, and whether
 * D is added to. `product` is the number of the product of a warp. */
template <unsigned product, unsigned sums>
struct __esc_warpgroup_product {
  float* registers[sums];
  float values[sums];

  void __esc_issue(__esc_kept_operand a0, __esc_kept_operand a1, __esc_kept_operand a2, __esc_kept_operand a3,
                   __esc_wide_operand b, __esc_operand adds) {
    const unsigned a[4] = {a0.bits, a1.bits, a2.bits, a3.bits};
    const unsigned* const places[4] = {a0.place, a1.place, a2.place, a3.place};
    __esc_issue_product(registers, values, sums, a, places, b.bits, adds.bits, product);
  }
  template <class... Operands>
  void __esc_issue(float& d, Operands&&... others) {
    constexpr unsigned number = sums + 6 - 1 - sizeof...(others);
    registers[number] = &d;
    values[number] = d;
    __esc_issue(static_cast<Operands&&>(others)...);
  }
};
/* D is written after this call; it is read here, so that it is known to be there. */
template <unsigned product, unsigned sums, class... Operands>
static inline void __esc_wgmma(Operands&&... operands) {
  static_assert(sizeof...(operands) == sums + 6,
                "the registers of D, four of A, where B is, and whether D is added to");
  __esc_warpgroup_product<product, sums> issued;
  issued.__esc_issue(static_cast<Operands&&>(operands)...);
}

static inline void __esc_mbarrier_init(__esc_operand barrier, __esc_operand count) {
  __esc_barrier_init(barrier.bits, count.bits);
}
static inline void __esc_mbarrier_arrive(__esc_operand barrier) { __esc_barrier_arrive(barrier.bits); }
static inline void __esc_mbarrier_expect(__esc_operand barrier, __esc_operand bytes) {
  __esc_barrier_arrive_expecting(barrier.bits, bytes.bits);
}
static inline void __esc_mbarrier_wait(__esc_operand barrier, __esc_operand parity) {
  __esc_barrier_wait(barrier.bits, parity.bits);
}
static inline void __esc_async_fence() { __esc_fence_copies(); }
static inline void __esc_proxy_fence() { __esc_fence_proxy(); }
static inline void __esc_bulk_copy(__esc_operand target, __esc_wide_operand source, __esc_operand bytes,
                                   __esc_operand barrier) {
  __esc_copy_bulk(target.bits, source.bits, bytes.bits, barrier.bits);
}
static inline void __esc_bulk_copy(__esc_operand target, __esc_wide_operand source, __esc_operand bytes,
                                   __esc_operand barrier, __esc_wide_operand policy) {
  __esc_check_policy(policy.bits);
  __esc_copy_bulk(target.bits, source.bits, bytes.bits, barrier.bits);
}
template <unsigned stays>
static inline void __esc_policy(unsigned long long& policy) {
  policy = __esc_create_policy(stays);
}
static inline void __esc_load_with_policy(unsigned& word, __esc_wide_operand address, __esc_wide_operand policy) {
  __esc_check_policy(policy.bits);
  word = __esc_load_global(address.bits);
}
static inline void __esc_tensor_copy(__esc_operand target, __esc_wide_operand map, __esc_operand x, __esc_operand y,
                                     __esc_operand barrier) {
  __esc_copy_tensor(target.bits, map.bits, x.bits, y.bits, barrier.bits);
}

static inline void __esc_bar_sync(__esc_operand number, __esc_operand threads) {
  __esc_named_barrier(number.bits, threads.bits, 1);
}
static inline void __esc_bar_arrive(__esc_operand number, __esc_operand threads) {
  __esc_named_barrier(number.bits, threads.bits, 0);
}

/* A digit whose highest bit is set asks for the sign of the byte in all bits. */
static inline void __esc_permute_bytes(unsigned& permuted, __esc_operand lower, __esc_operand upper,
                                       __esc_operand order) {
  permuted = __byte_perm(lower.bits, upper.bits, order.bits);
  for (unsigned place = 0; place < 4; ++place) {
    if ((order.bits >> 4 * place & 8) != 0) {
      const unsigned byte = 255u << 8 * place;
      permuted = (permuted >> 8 * place & 128) != 0 ? permuted | byte : permuted & ~byte;
    }
  }
}

static inline void __esc_permute_bytes(unsigned& permuted, __esc_operand bytes, __esc_operand order) {
  __esc_permute_bytes(permuted, bytes, __esc_operand(0u), order);
}

/* The nearest number of half precision, ties to even; beyond the largest number to infinity; a NaN becomes 0x7fff. */
static inline unsigned __esc_half_bits(float value) {
  const unsigned bits = __builtin_bit_cast(unsigned, value);
  const unsigned sign = bits >> 16 & 0x8000u;
  const unsigned magnitude = bits & 0x7fffffffu;
  const unsigned exponent = magnitude >> 23;
  if (magnitude > 0x7f800000u) {
    return 0x7fffu;
  }
  if (magnitude >= 0x477ff000u) { /* 65520 lies in the middle between the largest number and the next power of two */
    return sign | 0x7c00u;
  }
  if (exponent >= 113u) {
    const unsigned rounded = magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u);
    return sign | rounded >> 13;
  }
  if (exponent < 102u) { /* less than half of the smallest number, 2^-24 */
    return sign;
  }
  const unsigned shift = 126u - exponent;
  const unsigned mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  const unsigned kept = mantissa >> shift;
  const unsigned rest = mantissa & ((1u << shift) - 1u);
  const unsigned middle = 1u << (shift - 1u);
  const unsigned up = rest > middle || (rest == middle && (kept & 1u) != 0) ? 1u : 0u;
  return sign | (kept + up);
}
static inline void __esc_convert_to_halves(unsigned& halves, __esc_float_operand upper, __esc_float_operand lower) {
  halves = __esc_half_bits(upper.value) << 16 | __esc_half_bits(lower.value);
}

static inline void __esc_meet_cluster() { __esc_cluster_meet(); }
static inline void __esc_map_to_block(unsigned& mapped, __esc_operand address, __esc_operand rank) {
  mapped = __esc_cluster_map(address.bits, rank.bits);
}
static inline void __esc_store_in_cluster(__esc_operand mapped, __esc_operand first, __esc_operand second,
                                          __esc_operand third, __esc_operand fourth) {
  __esc_cluster_store(mapped.bits, first.bits, second.bits, third.bits, fourth.bits);
}
