// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "generator/emulate/access_judge.h"
#include "generator/emulate/async_barriers.h"
#include "generator/emulate/async_copies.h"
#include "generator/emulate/block_cluster.h"
#include "generator/emulate/fibre.h"
#include "generator/emulate/launch.h"
#include "generator/emulate/named_barriers.h"
#include "generator/emulate/register_pool.h"
#include "generator/emulate/warp.h"
#include "generator/emulate/warpgroup_products.h"

namespace esc {

/// How far a block has come.
enum class BlockProgress : std::uint8_t {
  finished,
  at_cluster_barrier,  ///< with all of its threads
  abandoned            ///< after a fault, with every thread where it was
};

/// How a barrier combines the threads' predicates; values are passed by the stand-in headers.
enum class BarrierReduction : std::int32_t { count, all, any };

/// Runs the threads of one block, one at a time, each on its own stack where it has to wait. A thread that waits for
/// nobody runs to its end on the stack of the one before it. Threads go on where they wait together: at barriers, in
/// warp operations.
class BlockRunner {
 public:
  BlockRunner(AccessJudge& judge, BlockCluster& cluster)
      : judge_(judge),
        async_barriers_(judge),
        named_barriers_(judge),
        products_(judge),
        registers_(judge),
        cluster_(cluster) {}

  void begin_launch(const Launch& launch);
  /// Runs a block from its beginning to its end, or to a barrier of its cluster.
  BlockProgress run(std::uint64_t linear_block);
  /// Goes on after that barrier, which all blocks of the cluster have reached.
  BlockProgress go_on();
  /// Reports that others do not come to that barrier.
  void report_uneven_barriers();
  /// Gives up the block, which waits there.
  void give_up() { release_fibres(); }

  // For the hooks, on the stack of the running thread:

  int barrier(int predicate, BarrierReduction reduction);
  /// The same for all blocks of the cluster.
  void cluster_barrier();
  /// The running thread, with its whole warp, is at this barrier, and waits, if it does, until as many threads as
  /// requested are.
  void named_barrier(NamedBarriers::Request request);
  BlockCluster& cluster() { return cluster_; }
  std::uint64_t warp_operation(WarpOperationKind kind, std::uint32_t mask, std::uint64_t value, std::int32_t argument,
                               std::uint32_t width);
  /// The whole warp brings the operands of an instruction together. True for the lane that came last: it does the work
  /// of all, on what `gathered` has by lane, before anyone else goes on. Orders no memory accesses.
  bool gather(WarpOperationKind kind, std::uint64_t operands);
  const std::array<std::uint64_t, 32>& gathered() const { return warps_[current_ / 32].value; }
  std::uint32_t current_lane() const { return current_ % 32; }
  std::uint32_t current_warp() const { return current_ / 32; }
  WarpgroupProducts& products() { return products_; }
  RegisterPool& registers() { return registers_; }
  /// The running thread waits for the kernel before, which has ended.
  void wait_for_predecessor();
  /// The lanes of the running thread's warp that have not returned.
  std::uint32_t active_lanes() const { return ~warps_[current_ / 32].gone; }
  AsyncCopies& copies() { return threads_[current_].copies; }
  AsyncBarriers& async_barriers() { return async_barriers_; }
  /// The running thread waits until a phase of this parity of the asynchronous barrier is complete.
  void wait_for_phase(std::uint64_t barrier, std::uint32_t parity);
  /// Lets those go on whose phases are complete. To be called whenever an asynchronous barrier was used.
  void wake_waiting();
  /// The running thread has a __grid_constant__ parameter at `address`.
  void add_grid_constant(std::uint64_t address) { threads_[current_].grid_constants.push_back(address); }
  bool is_grid_constant(std::uint64_t address) const;

 private:
  enum class State : std::uint8_t {
    unstarted,
    ready,
    running,
    at_barrier,
    in_warp_operation,
    at_async_barrier,
    at_named_barrier,
    done
  };

  static constexpr std::uint32_t kNobody = ~0u;

  struct Thread {
    State state = State::unstarted;
    std::uint32_t fibre = kNobody;
    std::uint32_t site = 0;           ///< of the barrier that it waits at
    std::uint64_t async_barrier = 0;  ///< that it waits at
    std::uint32_t parity = 0;
    int predicate = 0;
    std::int64_t fuel = 0;
    bool waited = false;  ///< for the kernel before
    AsyncCopies copies;
    std::vector<std::uint64_t> grid_constants;
  };

  BlockProgress run_threads(std::uint32_t first);
  std::uint32_t first_waiting() const;
  void run_fibre(std::uint32_t fibre);
  void begin_block(std::uint64_t linear_block);
  std::uint32_t pick();
  void activate(std::uint32_t thread);
  Context& context_of(std::uint32_t thread);
  /// Lets others run until the running thread is ready again.
  void wait(State state);
  void finish_thread();
  void complete_barrier();
  void complete_warp_operation(std::uint32_t warp, std::size_t index);
  void shuffle(Warp& warp, const WarpOperation& operation);
  void make_ready(std::uint32_t thread);
  void wake_met();
  void report_deadlock();
  // Each reports one fault where it finds what keeps threads waiting:
  bool report_absent_warps();
  bool report_endless_phase();
  bool report_absent_lanes(bool (*concerns)(WarpOperationKind));
  void release_fibres();
  std::string describe_wait(std::uint32_t thread) const;

  AccessJudge& judge_;
  AsyncBarriers async_barriers_;
  NamedBarriers named_barriers_;
  WarpgroupProducts products_;
  RegisterPool registers_;
  BlockCluster& cluster_;
  std::optional<FibrePool> fibres_;
  Context scheduler_;
  const Launch* launch_ = nullptr;
  std::vector<Thread> threads_;
  std::vector<Dim3> thread_indices_;
  std::vector<Warp> warps_;
  std::vector<std::uint32_t> idle_fibres_;
  std::vector<std::uint32_t> ready_;
  std::size_t first_ready_ = 0;
  std::vector<std::uint32_t> start_order_;
  std::size_t next_start_ = 0;
  std::mt19937_64 random_;
  std::uint32_t current_ = 0;
  std::uint32_t live_ = 0;
  std::uint32_t at_barrier_ = 0;
  BarrierReduction reduction_ = BarrierReduction::count;
  int barrier_result_ = 0;
  bool meets_cluster_ = false;      ///< whether the barrier that threads wait at is one of the cluster
  bool completes_cluster_ = false;  ///< whether the thread that goes on next is to complete that
  std::uint64_t linear_block_ = 0;
};

}  // namespace esc
