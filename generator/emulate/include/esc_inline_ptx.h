// SPDX-License-Identifier: Apache-2.0
/* What the statements of inline PTX that the emulator knows are translated to (inline_ptx.h): calls with the operands of
 * the statement in their order. An operand with constraint "r" has 32 bits, as nvcc demands. */
#pragma once

struct __esc_operand {
  unsigned bits;
  __esc_operand(unsigned value) : bits(value) {}
  __esc_operand(int value) : bits((unsigned)value) {}
  template <class T>
  __esc_operand(T) = delete;
};

extern "C" {
ESC_RUNTIME unsigned long long __esc_shared_address(const void* pointer);
ESC_RUNTIME void __esc_load_matrices(unsigned* registers, unsigned address, unsigned matrices, unsigned transposed);
ESC_RUNTIME unsigned __esc_transpose_matrix(unsigned elements);
ESC_RUNTIME void __esc_multiply_matrices(float* sums, const unsigned* a, const unsigned* b, unsigned metadata,
                                         unsigned product);
}

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
