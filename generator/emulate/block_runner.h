#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "generator/emulate/async_copies.h"
#include "generator/emulate/fibre.h"
#include "generator/emulate/host_program.h"
#include "generator/emulate/registers.h"
#include "generator/emulate/warp.h"

namespace esc {

class Machine;

#if defined(__SANITIZE_ADDRESS__)
inline constexpr std::size_t kThreadStackBytes = 256 * 1024;
inline constexpr std::size_t kStackMargin = 128 * 1024;
#else
inline constexpr std::size_t kThreadStackBytes = 96 * 1024;
/// What the emulator itself may need below the frames of the text under check.
inline constexpr std::size_t kStackMargin = 32 * 1024;
#endif

/// A launch that has passed its checks.
struct Launch {
  const ProgramKernel* kernel = nullptr;
  Dim3 grid;
  Dim3 block;
  std::uint64_t dynamic_shared = 0;
  void (*enter)(const void* kernel, void** arguments) = nullptr;
  void** arguments = nullptr;
};

/// How a barrier combines the threads' predicates; values are passed by the stand-in headers.
enum class BarrierReduction : std::int32_t { count, all, any };

/// Runs the threads of one block, one at a time, each on its own stack where it has to wait. A thread that waits for
/// nobody runs to its end on the stack of the one before it. Threads go on where they wait together: at barriers, in
/// warp operations.
class BlockRunner {
 public:
  explicit BlockRunner(Machine& machine);

  void begin_launch(const Launch& launch);
  /// Runs one block. False when it was abandoned after a fault.
  bool run(std::uint64_t linear_block);

  // For the hooks, on the stack of the running thread:

  int barrier(int predicate, BarrierReduction reduction);
  std::uint64_t warp_operation(WarpOperationKind kind, std::uint32_t mask, std::uint64_t value, std::int32_t argument,
                               std::uint32_t width);
  /// The lanes of the running thread's warp that have not returned.
  std::uint32_t active_lanes() const { return ~warps_[current_ / 32].gone; }
  AsyncCopies& copies() { return threads_[current_].copies; }
  /// Drops the block, with every thread where it stands.
  [[noreturn]] void abandon();

 private:
  enum class State : std::uint8_t { unstarted, ready, running, at_barrier, in_warp_operation, done };

  static constexpr std::uint32_t kNobody = ~0u;

  struct Thread {
    State state = State::unstarted;
    std::uint32_t fibre = kNobody;
    std::uint32_t site = 0;  ///< of the barrier that it waits at
    int predicate = 0;
    std::int64_t fuel = 0;
    AsyncCopies copies;
  };

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
  void report_deadlock();
  void release_fibres();
  std::string describe_wait(std::uint32_t thread) const;

  Machine& machine_;
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
  bool abandoned_ = false;
};

}  // namespace esc
