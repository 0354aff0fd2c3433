// SPDX-License-Identifier: Apache-2.0
// Every instruction that the emulator knows as inline PTX, and one that has a name in CUDA, each with operands from memory and
// results to memory. Run on the emulated grid by inline_ptx_test and on a GPU by matrix_instructions.cu.
#pragma once
#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>

/// What a lane brings: registers of A and of B, metadata, sums. A load takes a row of 16 bytes, as the first four words.
constexpr int kOperandWords = 13;
constexpr int kResultWords = 4;

__device__ inline void load_x1(unsigned* d, unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(d[0])
               : "r"(address)
               : "memory");
}
__device__ inline void load_x1_transposed(unsigned* d, unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
               : "=r"(d[0])
               : "r"(address)
               : "memory");
}
__device__ inline void load_x2(unsigned* d, unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(address)
               : "memory");
}
__device__ inline void load_x2_transposed(unsigned* d, unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(address)
               : "memory");
}
__device__ inline void load_x4(unsigned* d, unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(address)
               : "memory");
}
__device__ inline void load_x4_transposed(unsigned* d, unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(address)
               : "memory");
}
__device__ inline void transpose(unsigned* d, const unsigned* a) {
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(d[0]) : "r"(a[0]));
}
__device__ inline void permute(unsigned* d, const unsigned* a) {
  asm volatile("prmt.b32 %0, %1, 0, %2;" : "=r"(d[0]) : "r"(a[0]), "r"(a[1]));
}
__device__ inline void convert_to_halves(unsigned* d, const unsigned* a) {
  asm volatile("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d[0]) : "f"(__uint_as_float(a[0])), "f"(__uint_as_float(a[1])));
}
__device__ inline void multiply_float16(float* c, const unsigned* a, const unsigned* b, unsigned metadata) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ inline void multiply_sparse_float16_0(float* c, const unsigned* a, const unsigned* b, unsigned metadata) {
  asm volatile("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x0;"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(metadata));
}
__device__ inline void multiply_sparse_float16_1(float* c, const unsigned* a, const unsigned* b, unsigned metadata) {
  asm volatile("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x1;"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(metadata));
}
__device__ inline void multiply_sparse_float16_ordered_0(float* c, const unsigned* a, const unsigned* b, unsigned metadata) {
  asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x0;"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(metadata));
}
__device__ inline void multiply_sparse_float16_ordered_1(float* c, const unsigned* a, const unsigned* b, unsigned metadata) {
  asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x1;"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(metadata));
}
__device__ inline void multiply_bfloat16(float* c, const unsigned* a, const unsigned* b, unsigned metadata) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ inline void multiply_sparse_bfloat16_0(float* c, const unsigned* a, const unsigned* b, unsigned metadata) {
  asm volatile("mma.sp.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x0;"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(metadata));
}
__device__ inline void multiply_sparse_bfloat16_1(float* c, const unsigned* a, const unsigned* b, unsigned metadata) {
  asm volatile("mma.sp.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x1;"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(metadata));
}
__device__ inline void multiply_sparse_bfloat16_ordered_0(float* c, const unsigned* a, const unsigned* b, unsigned metadata) {
  asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x0;"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(metadata));
}
__device__ inline void multiply_sparse_bfloat16_ordered_1(float* c, const unsigned* a, const unsigned* b, unsigned metadata) {
  asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x1;"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(metadata));
}
__device__ inline void multiply_tf32(float* c, const unsigned* a, const unsigned* b, unsigned metadata) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ inline void multiply_sparse_tf32_0(float* c, const unsigned* a, const unsigned* b, unsigned metadata) {
  asm volatile("mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x0;"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(metadata));
}
__device__ inline void multiply_sparse_tf32_1(float* c, const unsigned* a, const unsigned* b, unsigned metadata) {
  asm volatile("mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x1;"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(metadata));
}
__device__ inline void multiply_sparse_tf32_ordered_0(float* c, const unsigned* a, const unsigned* b, unsigned metadata) {
  asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x0;"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(metadata));
}
__device__ inline void multiply_sparse_tf32_ordered_1(float* c, const unsigned* a, const unsigned* b, unsigned metadata) {
  asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x1;"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(metadata));
}

__device__ inline void permute_two(unsigned* d, const unsigned* a) {
  asm volatile("prmt.b32 %0, %1, %2, %3;" : "=r"(d[0]) : "r"(a[0]), "r"(a[1]), "r"(a[2]));
}
__device__ inline void load_word(unsigned* d, unsigned address) {
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(d[0]) : "r"(address) : "memory");
}
/// Of 16 bytes the first ones, as many as this says; the others are zero.
__device__ inline void copy_piece(unsigned* d, const unsigned* row, unsigned address, const unsigned* from, unsigned bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"(address), "l"(from), "r"(bytes) : "memory");
  __pipeline_commit();
  __pipeline_wait_prior(0);
  for (int word = 0; word < 4; ++word) d[word] = row[word];
}

/// Plays the instruction with this number in one warp.
__global__ void play(int instruction, const unsigned* all_operands, unsigned* results) {
  __shared__ alignas(16) unsigned tile[32 * 4];
  const unsigned* const operands = all_operands + kOperandWords * threadIdx.x;
  unsigned* const row = tile + 4 * (5 * threadIdx.x % 32);
  for (int word = 0; word < 4; ++word) row[word] = operands[word];
  __syncwarp();
  const unsigned address = static_cast<unsigned int>(__cvta_generic_to_shared(row));
  unsigned d[4] = {0, 0, 0, 0};
  float c[4];
  for (int word = 0; word < 4; ++word) c[word] = __uint_as_float(operands[9 + word]);
  switch (instruction) {
    case 0:
      load_x1(d, address);
      break;
    case 1:
      load_x1_transposed(d, address);
      break;
    case 2:
      load_x2(d, address);
      break;
    case 3:
      load_x2_transposed(d, address);
      break;
    case 4:
      load_x4(d, address);
      break;
    case 5:
      load_x4_transposed(d, address);
      break;
    case 6:
      multiply_float16(c, operands, operands + 4, operands[8]);
      break;
    case 7:
      multiply_sparse_float16_0(c, operands, operands + 4, operands[8]);
      break;
    case 8:
      multiply_sparse_float16_1(c, operands, operands + 4, operands[8]);
      break;
    case 9:
      multiply_sparse_float16_ordered_0(c, operands, operands + 4, operands[8]);
      break;
    case 10:
      multiply_sparse_float16_ordered_1(c, operands, operands + 4, operands[8]);
      break;
    case 11:
      multiply_bfloat16(c, operands, operands + 4, operands[8]);
      break;
    case 12:
      multiply_sparse_bfloat16_0(c, operands, operands + 4, operands[8]);
      break;
    case 13:
      multiply_sparse_bfloat16_1(c, operands, operands + 4, operands[8]);
      break;
    case 14:
      multiply_sparse_bfloat16_ordered_0(c, operands, operands + 4, operands[8]);
      break;
    case 15:
      multiply_sparse_bfloat16_ordered_1(c, operands, operands + 4, operands[8]);
      break;
    case 16:
      multiply_tf32(c, operands, operands + 4, operands[8]);
      break;
    case 17:
      multiply_sparse_tf32_0(c, operands, operands + 4, operands[8]);
      break;
    case 18:
      multiply_sparse_tf32_1(c, operands, operands + 4, operands[8]);
      break;
    case 19:
      multiply_sparse_tf32_ordered_0(c, operands, operands + 4, operands[8]);
      break;
    case 20:
      multiply_sparse_tf32_ordered_1(c, operands, operands + 4, operands[8]);
      break;
    case 21:
      transpose(d, operands);
      break;
    case 22:
      permute(d, operands);
      break;
    case 23:
      convert_to_halves(d, operands);
      break;
    case 24:
      permute_two(d, operands);
      break;
    case 25:
      load_word(d, address + 4 * (threadIdx.x % 4));
      break;
    case 26:
      copy_piece(d, row, address, all_operands + 4 * threadIdx.x, operands[12] % 17);
      break;
    case 27:
      d[0] = __dp4a(operands[0], operands[1], operands[2]);
      break;
    case 28:
      d[0] = __dp2a_lo(operands[0], operands[1], operands[2]);
      break;
  }
  for (int word = 0; word < 4; ++word)
    results[kResultWords * threadIdx.x + word] = instruction < 6 || instruction >= 21 ? d[word] : __float_as_uint(c[word]);
}
