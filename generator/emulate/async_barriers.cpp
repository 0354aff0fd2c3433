// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/async_barriers.h"

#include <fmt/format.h>

#include <algorithm>

namespace esc {
namespace {

constexpr std::uint64_t kBarrierBytes = 8;
constexpr unsigned kLog2BarrierBytes = 3;
/// The most arrivals and the most bytes of a phase.
constexpr std::uint32_t kMost = (1u << 20) - 1;

}  // namespace

std::string AsyncBarriers::describe(std::uint64_t address) const {
  const Region* region = judge_.find_region(address, kBarrierBytes);
  return region == nullptr
             ? fmt::format("the asynchronous barrier at {:#x}", address)
             : fmt::format("the asynchronous barrier at offset {} of {}", address - region->base, region->name);
}

void AsyncBarriers::check_place(std::uint64_t address, const char* what) {
  const Region* region = judge_.find_region(address, kBarrierBytes);
  if (region == nullptr || !region->lasts_a_block) {
    judge_.refuse(FaultKind::out_of_bounds, address, [&] {
      return fmt::format("{} of an asynchronous barrier {}", what,
                         judge_.memory().describe_nearest(address, kBarrierBytes));
    });
  }
  if (address % kBarrierBytes != 0) {
    judge_.refuse(FaultKind::misaligned, address, [&] {
      return fmt::format("{} of {}, whose address is not a multiple of {}", what, describe(address), kBarrierBytes);
    });
  }
}

void AsyncBarriers::initialise(std::uint64_t address, std::uint32_t count) {
  check_place(address, "initialisation");
  if (count == 0 || count > kMost) {
    judge_.refuse(FaultKind::bad_barrier, address, [&] {
      return fmt::format("initialises {} for {} arrivals; it takes 1 to {}", describe(address), count, kMost);
    });
  }
  judge_.occupy(address, kBarrierBytes, AccessNote::pack(kBarrierBytes, kLog2BarrierBytes, judge_.site()),
                Occupant::barrier);
  RaceClock& clock = judge_.clock();
  const std::optional<std::uint32_t> number = clock.threads().add_barrier();
  if (!number) {
    judge_.refuse(FaultKind::limit, "", [] {
      return fmt::format("a block with more than {} threads and asynchronous barriers", ThreadClocks::kMostMembers);
    });
  }
  Barrier barrier{.number = *number, .count = count, .pending = count};
  barrier.initialiser = clock.running_thread();
  barrier.time = clock.threads().time(barrier.initialiser);
  barrier.interval = clock.now();
  barriers_[address] = std::move(barrier);
}

void AsyncBarriers::fence() {
  for (auto& [address, barrier] : barriers_) {
    barrier.fenced = barrier.fenced || barrier.initialiser == judge_.clock().running_thread();
  }
}

AsyncBarriers::Barrier& AsyncBarriers::find(std::uint64_t address, const char* what) {
  check_place(address, what);
  const auto found = barriers_.find(address);
  if (found == barriers_.end()) {
    judge_.refuse(FaultKind::bad_barrier, address, [&] {
      return fmt::format("{} of {}, which nothing has initialised in this block", what, describe(address));
    });
  }
  Barrier& barrier = found->second;
  RaceClock& clock = judge_.clock();
  const bool is_behind = barrier.interval != clock.now() ||
                         clock.threads().is_behind(clock.running_thread(), barrier.initialiser, barrier.time);
  if (!is_behind) {
    judge_.refuse(FaultKind::race, address, [&] {
      return fmt::format("{} of {}, which another thread has initialised, and no barrier orders the two", what,
                         describe(address));
    });
  }
  return barrier;
}

void AsyncBarriers::arrive(std::uint64_t address) { arrive_at(find(address, "arrival"), address); }

void AsyncBarriers::arrive_expecting(std::uint64_t address, std::uint32_t bytes) {
  Barrier& barrier = find(address, "arrival");
  barrier.expected += bytes;
  if (barrier.expected > kMost) {
    judge_.refuse(FaultKind::bad_barrier, address, [&] {
      return fmt::format("expects {} bytes in one phase of {}, which counts to {}", barrier.expected, describe(address),
                         kMost);
    });
  }
  arrive_at(barrier, address);
}

void AsyncBarriers::arrive_at(Barrier& barrier, std::uint64_t address) {
  if (barrier.pending == 0) {
    judge_.refuse(FaultKind::bad_barrier, address, [&] {
      return fmt::format("arrives at {} once more than its {} times, before all bytes of the phase have",
                         describe(address), barrier.count);
    });
  }
  if (barrier.phases > barrier.waited) {
    judge_.refuse(FaultKind::bad_barrier, address, [&] {
      return fmt::format("arrives at {}, of which phase {} is complete and nobody has waited for it", describe(address),
                         barrier.phases - 1);
    });
  }
  if (!judge_.clock().release(barrier.arrived)) {
    judge_.refuse(FaultKind::limit, "",
                  [] { return std::string("more arrivals between two barriers than can be told apart"); });
  }
  --barrier.pending;
  check_bytes(barrier, address);
  if (barrier.lacks_nothing() && (barrier.copies.empty() || !barrier.waiting.empty())) {
    complete(barrier);
  }
}

/// Copies that nobody expects let a phase end before they have arrived.
void AsyncBarriers::check_bytes(const Barrier& barrier, std::uint64_t address) {
  if (barrier.pending == 0 && barrier.under_way > barrier.expected) {
    judge_.refuse(FaultKind::bad_barrier, address, [&] {
      return fmt::format("copies bring {} bytes to the phase of {}, whose arrivals together expect {}",
                         barrier.under_way, describe(address), barrier.expected);
    });
  }
}

void AsyncBarriers::check_copy(std::uint64_t address, std::uint64_t bytes) {
  Barrier& barrier = find(address, "copy that completes a phase");
  if (!barrier.fenced) {
    judge_.refuse(FaultKind::race, address, [&] {
      return fmt::format("a copy completes a phase of {}, and no fence is between its initialisation and the copies",
                         describe(address));
    });
  }
  if (barrier.under_way + bytes > kMost) {
    judge_.refuse(FaultKind::bad_barrier, address, [&] {
      return fmt::format("copies bring {} bytes to one phase of {}, which counts to {}", barrier.under_way + bytes,
                         describe(address), kMost);
    });
  }
}

void AsyncBarriers::add_copy(std::uint64_t address, std::uint64_t shared, std::vector<std::byte> bytes) {
  Barrier& barrier = barriers_.at(address);
  barrier.under_way += bytes.size();
  barrier.copies.push_back({shared, std::move(bytes), judge_.registers().thread_index, judge_.site()});
  check_bytes(barrier, address);
  if (barrier.lacks_nothing() && !barrier.waiting.empty()) {
    complete(barrier);
  }
}

void AsyncBarriers::complete(Barrier& barrier) {
  RaceClock& clock = judge_.clock();
  for (const Copy& copy : barrier.copies) {
    judge_.land(copy.shared, copy.bytes, barrier.number, barrier.phases);
  }
  ++barrier.phases;
  clock.threads().complete(barrier.completed, barrier.arrived, barrier.number, barrier.phases);
  barrier.pending = barrier.count;
  barrier.expected = 0;
  barrier.under_way = 0;
  barrier.copies.clear();
  barrier.arrived = {};
  woken_.insert(woken_.end(), barrier.waiting.begin(), barrier.waiting.end());
  barrier.waiting.clear();
  if (barrier.phases >= shadow_entry::kMaxTime) {
    judge_.refuse(FaultKind::limit, "",
                  [] { return std::string("more phases of an asynchronous barrier than can be told apart"); });
  }
}

bool AsyncBarriers::passes(std::uint64_t address, std::uint32_t parity) {
  Barrier& barrier = find(address, "wait");
  if (parity > 1) {
    judge_.refuse(FaultKind::bad_operand, address, [&] {
      return fmt::format("waits for the parity {} of {}; there are 0 and 1", parity, describe(address));
    });
  }
  RaceClock& clock = judge_.clock();
  const std::int64_t known = clock.threads().phases_behind(clock.running_thread(), barrier.number);
  // The phase that the thread can mean: the first that it does not know to be complete, or the one before that.
  const std::int64_t meant = known % 2 == parity ? known : known - 1;
  if (barrier.phases >= meant + 2) {
    judge_.refuse(FaultKind::race, address, [&] {
      return fmt::format(
          "waits for parity {} of {}, of which {} phases are complete; of {} the thread can know, so that the "
          "wait may be for a phase two after or two ahead",
          parity, describe(address), barrier.phases, known);
    });
  }
  if (barrier.phases % 2 == parity && barrier.lacks_nothing()) {
    complete(barrier);
  }
  if (barrier.phases % 2 == parity) {
    return false;
  }
  clock.acquire(barrier.completed);
  barrier.waited = barrier.phases;
  return true;
}

std::string AsyncBarriers::describe_wait(std::uint64_t address, std::uint32_t parity) const {
  const Barrier& barrier = barriers_.at(address);
  const std::uint64_t missing = barrier.expected - std::min(barrier.expected, barrier.under_way);
  return fmt::format("phase {} (parity {}) of {}, which lacks {} of {} arrivals and {} of {} expected bytes",
                     barrier.phases, parity, describe(address), barrier.pending, barrier.count, missing,
                     barrier.expected);
}

void AsyncBarriers::end_block() {
  for (const auto& [address, barrier] : barriers_) {
    for (const Copy& copy : barrier.copies) {
      judge_.registers().thread_index = copy.thread;
      judge_.report(FaultKind::race, copy.site, "", [&] {
        return fmt::format(
            "the block ends while an asynchronous copy of {} bytes is under way, for which nobody has waited",
            copy.bytes.size());
      });
    }
  }
}

}  // namespace esc
