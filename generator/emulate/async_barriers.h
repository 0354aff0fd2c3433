// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "generator/emulate/access_judge.h"

namespace esc {

/// The asynchronous barriers (mbarrier) of one block, and the bulk copies that they count. As late as can be is when
/// bytes arrive: where a thread cannot pass its wait without them. Addresses are pointers into shared memory; whoever
/// uses a barrier is the running thread. What has no meaning, or one that depends on chance, is a fault that stops it.
class AsyncBarriers {
 public:
  explicit AsyncBarriers(AccessJudge& judge) : judge_(judge) {}

  void begin_block() { barriers_.clear(); }
  /// Reports copies under way, whose memory the next block has.
  void end_block();

  void initialise(std::uint64_t address, std::uint32_t count);
  /// What the running thread has initialised is known to the engine of the copies.
  void fence();
  void arrive(std::uint64_t address);
  void arrive_expecting(std::uint64_t address, std::uint32_t bytes);

  /// Must hold before `add_copy`: the phase can take that many bytes more.
  void check_copy(std::uint64_t address, std::uint64_t bytes);
  /// A copy of the running thread, which the judge knows of, is under way to `shared`.
  void add_copy(std::uint64_t address, std::uint64_t shared, std::vector<std::byte> bytes);

  /// Whether the running thread passes a wait for the phase of this parity. If so, what was after the arrivals at it
  /// and the copies that it counts are after the thread.
  bool passes(std::uint64_t address, std::uint32_t parity);
  /// `thread`, which did not pass, waits.
  void add_waiting(std::uint64_t address, std::uint32_t thread) { barriers_.at(address).waiting.push_back(thread); }
  /// Threads that have waited for a phase that is complete by now.
  std::vector<std::uint32_t> take_woken() { return std::exchange(woken_, {}); }

  /// "phase 3 (parity 1) of the asynchronous barrier at offset 8 of shared memory 'full', which lacks ...".
  std::string describe_wait(std::uint64_t address, std::uint32_t parity) const;

 private:
  struct Copy {
    std::uint64_t shared = 0;
    std::vector<std::byte> bytes;
    Dim3 thread;
    std::uint32_t site = 0;
  };

  struct Barrier {
    std::uint32_t number = 0;  ///< among the members of the clocks
    std::uint32_t count = 0;
    std::uint32_t pending = 0;  ///< arrivals that the phase lacks
    std::uint32_t phases = 0;   ///< that are complete
    std::uint32_t waited = 0;   ///< of these, those that came before the latest wait for one
    std::uint64_t expected = 0;
    std::uint64_t under_way = 0;  ///< bytes of `copies`
    std::vector<Copy> copies = {};
    Knowledge arrived = {};
    Knowledge completed = {};
    std::vector<std::uint32_t> waiting = {};
    std::uint32_t initialiser = 0;
    std::uint32_t time = 0;      ///< of the initialiser when it had initialised it
    std::uint32_t interval = 0;  ///< of that time
    bool fenced = false;

    bool lacks_nothing() const { return pending == 0 && expected == under_way; }
  };

  void check_place(std::uint64_t address, const char* what);
  Barrier& find(std::uint64_t address, const char* what);
  void arrive_at(Barrier& barrier, std::uint64_t address);
  void check_bytes(const Barrier& barrier, std::uint64_t address);
  void complete(Barrier& barrier);
  std::string describe(std::uint64_t address) const;
  AccessJudge& judge_;
  std::map<std::uint64_t, Barrier> barriers_;
  std::vector<std::uint32_t> woken_;
};

}  // namespace esc
