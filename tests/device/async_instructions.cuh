// SPDX-License-Identifier: Apache-2.0
// Every asynchronous barrier, bulk copy and named barrier that the emulator knows as inline PTX. Run on the emulated grid
// by bulk_ring_test, tensor_copy_test and named_barrier_test, and on a GPU by async_copies.cu.
#pragma once
#include <cudaTypedefs.h>
#include <cuda_runtime.h>

using Barrier = unsigned long long;

__device__ inline unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
__device__ inline void initialise(Barrier* barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(shared_address(barrier)), "r"(arrivals) : "memory");
}
__device__ inline void fence_initialisation() { asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory"); }
__device__ inline void fence_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ inline void arrive(Barrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
__device__ inline void arrive_expecting(Barrier* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :
               : "r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}
__device__ inline void wait_for(Barrier* barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}"
      :
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
}
__device__ inline void copy_bulk(void* to, const void* from, unsigned bytes, Barrier* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               :
               : "r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(barrier))
               : "memory");
}
__device__ inline void copy_box(void* to, const CUtensorMap& map, int x, int y, Barrier* barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               :
               : "r"(shared_address(to)), "l"(&map), "r"(x), "r"(y), "r"(shared_address(barrier))
               : "memory");
}
/// Those of a team wait for each other at barrier 1 to 15; `threads`: how many they are.
__device__ inline void sync_consumer_group(unsigned barrier, unsigned threads) {
  asm volatile("bar.sync %0, %1;" : : "r"(barrier), "r"(threads) : "memory");
}
/// Who arrives goes on; those who wait there are counted among `threads`, too.
__device__ inline void arrive_at(unsigned barrier, unsigned threads) {
  asm volatile("bar.arrive %0, %1;" : : "r"(barrier), "r"(threads) : "memory");
}
