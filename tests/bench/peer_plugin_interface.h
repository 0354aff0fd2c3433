// SPDX-License-Identifier: Apache-2.0
#ifndef ESC_PEER_PLUGIN_INTERFACE_H
#define ESC_PEER_PLUGIN_INTERFACE_H

/*
 * What a shared library must have that brings kernels for `esc-bench --peer LIBRARY.so`: the two functions at the end.
 * Plain C, and nothing of CUDA's headers: the library is linked with a CUDA runtime of its own, static or shared.
 *
 * Every call comes from one thread, with the device current that is measured. Where a function returns a text, NULL
 * means success and everything else says what is wrong; the text belongs to the library and lives until its next call.
 * A product that the library does not compute is refused by `make`, with its rule: "N must be a multiple of 8".
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. A library of another one is refused. */
#define ESC_PEER_INTERFACE_VERSION 1

/* Types of elements, which A, B and C have alike; as bits, so that several can be named together. */
#define ESC_PEER_F32 1u
#define ESC_PEER_F16 2u
#define ESC_PEER_BF16 4u

/* How B and C lie, without gaps: row-major K x N and M x N, or transposed, row-major N x K and N x M. */
#define ESC_PEER_LAYOUT_KN 0
#define ESC_PEER_LAYOUT_NK 1

/* C (M x N) = A (M x K) x B (K x N). What it points to is on the host and lives until `make` returns. */
typedef struct esc_peer_product {
  int64_t m;
  int64_t k;
  int64_t n;
  int64_t nonzeros;
  uint32_t element;       /* one of the bits above */
  const int32_t* offsets; /* m + 1: where each row of A begins in the two arrays that follow */
  const int32_t* columns; /* for each non-zero, ascending within a row */
  const void* values;     /* for each non-zero, elements of the type */
  const void* dense;      /* A as a dense row-major matrix without gaps, where `wants_dense` asks for it, else NULL */
} esc_peer_product;

/* The library's kernels. */
typedef struct esc_peer {
  const char* name;    /* in journals and tables: lower-case letters, digits, - and _, 40 at most */
  uint32_t elements;   /* the types that it takes */
  uint32_t exact;      /* those of them whose factors it takes as they are and whose products it sums up in float32 */
  int32_t layout;      /* how it wants B and C */
  int32_t wants_dense; /* whether it wants `dense` */
  int32_t algorithms;  /* how many; each is tried, the fastest right one counts */

  /* The name of an algorithm, from 0 on. */
  const char* (*algorithm_name)(int32_t algorithm);

  /* Makes all that `launch` needs, A on the device included. Where it fails nothing is left to be released. */
  const char* (*make)(const esc_peer_product* product, int32_t algorithm, void** made);

  /* Puts the product into the stream, a cudaStream_t, whole: C may hold anything before. It may be called while the
   * stream is captured, so it neither waits nor takes memory. `b` and `c` are on the device. */
  const char* (*launch)(void* made, const void* b, void* c, void* stream);

  /* Frees what `make` has made, when no launch of it is left in a stream. */
  void (*release)(void* made);
} esc_peer;

/* ESC_PEER_INTERFACE_VERSION, as the library was compiled. It is called first. */
int32_t esc_peer_interface_version(void);

/* The kernels; what it points to lives as long as the library is loaded. */
const esc_peer* esc_peer_describe(void);

#ifdef __cplusplus
}
#endif

#endif
