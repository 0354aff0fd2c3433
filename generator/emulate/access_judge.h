// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "generator/emulate/async_copies.h"
#include "generator/emulate/fault.h"
#include "generator/emulate/fibre.h"
#include "generator/emulate/host_program.h"
#include "generator/emulate/instrument.h"
#include "generator/emulate/launch.h"
#include "generator/emulate/memory_map.h"
#include "generator/emulate/options.h"
#include "generator/emulate/race_clock.h"

namespace esc {

/// How memory is used by one access.
enum class Use { read, write, atomic };

/// What keeps a stretch of shared memory from being used: a copy of a thread's own, a bulk copy or a store by another
/// block of the cluster under way to it, or an asynchronous barrier that lies there.
enum class Occupant { copy, bulk_copy, cluster_store, barrier };

/// Shared memory of a block, and what is known of it.
struct BlockMemory {
  std::vector<std::byte> bytes;
  std::vector<WordShadow> shadow;
};

/// Where an occupied stretch ends, by what, and which thread has begun that.
struct Occupied {
  std::uint64_t end = 0;
  Occupant occupant = Occupant::copy;
  Dim3 thread;
};

/// A block that waits while others of its cluster run, which have its addresses.
struct SuspendedBlock {
  std::vector<BlockMemory> memory;             ///< of each region
  std::map<std::uint64_t, Occupied> occupied;  ///< by where they begin
  BlockClock clock;
};

/// Judges every access of the running code before it happens, collects faults, and stops code that may not go on. Knows
/// what runs (a program, perhaps a launch of it, on some stack), not who lets it run.
class AccessJudge {
 public:
  explicit AccessJudge(EmulationOptions options);

  /// Makes the variables of `program` known and its registers those of the running code; `unload` forgets them.
  void load(const HostProgram& program);
  void unload();

  /// From the first call to the second, it is device code that makes the accesses.
  void begin_launch(const Launch& launch);
  void end_launch();

  /// Whether the running device code has still to wait for the kernel before.
  void set_before_wait(bool is_before) {
    read_mode_ = static_cast<std::uint8_t>(device_read | (is_before ? before_wait : 0));
    write_mode_ = static_cast<std::uint8_t>(device_write | (is_before ? before_wait : 0));
  }

  /// From now on the code of `running` makes the accesses, and may touch its own stack. `next` goes on when it is
  /// stopped.
  void enter_stack(Context& running, Context& next);

  /// Judges an access; returns only when it may be made.
  template <Use use>
  void check(std::uint64_t address, std::uint64_t size, std::uint64_t note);

  /// An atomic operation is about to be made at the place of the latest call.
  void check_atomic(std::uint64_t address, std::uint64_t size, Writing operation);

  /// Asynchronous copies: the bytes are in flight from the first call to the second. Nobody may read them, nor write
  /// them: the copy may land at any time.
  void begin_copy(std::uint64_t shared, std::uint64_t global, std::uint64_t bytes, std::uint64_t zero_fill);
  void end_copy(const AsyncCopy& copy);
  /// The running thread gives the bytes, which it may write now, to an occupant. Until it has gone nobody may use them.
  void occupy(std::uint64_t shared, std::uint64_t bytes, std::uint64_t note, Occupant occupant);
  /// A bulk copy to `shared` has arrived, which `phase` of an asynchronous barrier waits for.
  void land(std::uint64_t shared, std::span<const std::byte> bytes, std::uint32_t barrier, std::uint32_t phase);
  /// A thread of another block of the cluster stores bytes of shared memory, at `site`, at some time until
  /// `receive_store` has them. A fault where an occupant is: the device may write an asynchronous barrier even after
  /// all waits for it.
  void expect_store(std::uint64_t shared, std::uint64_t bytes, std::uint32_t site, const Dim3& thread);
  /// A fault where the running block has touched them in its turn before.
  void receive_store(std::uint64_t shared, std::span<const std::byte> bytes, std::uint32_t site, const Dim3& thread);
  /// Judges a read of global memory by the engine of the bulk copies, in the name of the running thread.
  void check_bulk_source(std::uint64_t global, std::uint64_t bytes, std::uint64_t note);
  /// Judges a read of shared memory by the asynchronous proxy in the name of the running thread, one of those that are
  /// followed.
  void check_proxy_read(std::uint64_t shared, std::uint64_t bytes, std::uint64_t note);
  /// Whether the bytes are of variables of the running thread.
  bool is_on_stack(std::uint64_t address, std::uint64_t bytes) const {
    return bytes <= stack_bytes_ && address - stack_bottom_ <= stack_bytes_ - bytes;
  }
  /// A block begins, whose memory nothing occupies.
  void forget_occupants() { occupied_.clear(); }
  /// The running block waits, with all of its threads, while others run; later it goes on.
  SuspendedBlock suspend_block();
  void resume_block(SuspendedBlock block);
  /// The region that holds all of the bytes, or null.
  const Region* find_region(std::uint64_t address, std::uint64_t bytes) const { return memory_.find(address, bytes); }

  /// Records a fault at `site`, unless one of its kind is known for this place and `subject`; `describe` is asked only
  /// for new ones. Returns; the caller decides with `stop` whether the code may go on.
  void report(FaultKind kind, std::uint32_t site, const std::string& subject,
              const std::function<std::string()>& describe);
  /// Ends the running thread with its block, or the running host function. Stacks are dropped, not unwound: a function
  /// that may get here must own nothing at that moment.
  [[noreturn]] void stop();
  /// Reports what the running thread does at the place of the latest call, of a subject that is text or a number, and
  /// stops it.
  template <class Subject, class Describe>
  [[noreturn]] void refuse(FaultKind kind, const Subject& subject, const Describe& describe) {
    report(kind, site(), fmt::format("{}", subject), describe);
    stop();
  }
  /// Ends the launch as well.
  [[noreturn]] void stop_launch();

  bool in_kernel() const { return launch_ != nullptr; }
  bool exhausted() const { return faults_.size() >= options_.max_faults; }
  /// Whether the code of the latest `enter_stack`, or the launch, was stopped.
  bool stopped() const { return stopped_; }
  bool launch_stopped() const { return launch_stopped_; }
  std::uint32_t site() const { return registers().site; }
  std::string describe_site(std::uint32_t site) const { return program_->sites().describe(site); }

  const EmulationOptions& options() const { return options_; }
  void set_options(EmulationOptions options) { options_ = std::move(options); }
  void set_files(KnownFiles files) { options_.files = std::move(files); }
  const HostProgram& program() const { return *program_; }
  Registers& registers() const { return program_->registers(); }
  MemoryMap& memory() { return memory_; }
  RaceClock& clock() { return clock_; }
  EmulationCounters& counters() { return counters_; }
  const std::vector<EmulationFault>& faults() const { return faults_; }
  void forget_faults();
  /// Must follow every change of the set of regions.
  void regions_changed() { recent_.fill(&nowhere_); }

 private:
  Region* locate(std::uint64_t address, std::uint64_t size, std::uint64_t note, Use use);
  template <Use use>
  void track(Region& region, std::uint64_t address, std::uint64_t size, std::uint64_t note);
  [[noreturn]] void refuse_alignment(const Region& region, std::uint64_t address, std::uint64_t size,
                                     std::uint64_t note, Use use);
  void check_occupants(const Region& region, std::uint64_t address, std::uint64_t size, std::uint64_t note, Use use);
  [[noreturn]] void refuse_mode(const Region& region, std::uint64_t address, std::uint64_t size, std::uint64_t note,
                                Use use);
  void report_uninitialised(const Region& region, std::uint64_t address, std::uint64_t size, std::uint64_t note);
  void report_race(const Region& region, std::uint64_t address, std::uint64_t size, std::uint64_t note, Use use,
                   const Conflict& conflict);

  /// The regions of a block's shared memory.
  std::vector<Region*> block_regions() const;
  const Occupied* find_occupied(std::uint64_t address, std::uint64_t size) const;

  EmulationOptions options_;
  Writing atomic_ = Writing::exchanging;        ///< the atomic operation that is being judged
  std::map<std::uint64_t, Occupied> occupied_;  ///< by where they begin; they never overlap
  MemoryMap memory_;
  RaceClock clock_;
  EmulationCounters counters_;
  Region nowhere_;
  std::array<Region*, 256> recent_{};  ///< by site: the region that it touched last
  std::uint8_t read_mode_ = host_read;
  std::uint8_t write_mode_ = host_write;
  std::uint64_t stack_bottom_ = 0;
  std::uint64_t stack_bytes_ = 0;

  const HostProgram* program_ = nullptr;
  std::vector<const Region*> program_regions_;
  Region* dynamic_shared_ = nullptr;
  const Launch* launch_ = nullptr;
  Context* running_ = nullptr;
  Context* next_ = nullptr;
  bool stopped_ = false;
  bool launch_stopped_ = false;

  std::vector<EmulationFault> faults_;
  std::set<std::tuple<FaultKind, std::string, std::uint32_t, std::string>> known_faults_;
};

template <Use use>
inline void AccessJudge::check(std::uint64_t address, std::uint64_t size, std::uint64_t note) {
  ++counters_.accesses;
  Region* region = recent_[AccessNote::site(note) & 255];
  if (!region->contains(address, size)) {
    region = locate(address, size, note, use);
    if (region == nullptr) {
      return;
    }
  }
  if ((address & (AccessNote::alignment(note) - 1)) != 0) {
    refuse_alignment(*region, address, size, note, use);
  }
  if ((region->denied & (use == Use::read ? read_mode_ : write_mode_)) != 0) {
    refuse_mode(*region, address, size, note, use);
  }
  if (use != Use::read && region->lasts_a_block && !occupied_.empty()) {
    check_occupants(*region, address, size, note, use);
  }
  if (region->shadow() != nullptr) {
    track<use>(*region, address, size, note);
  }
}

template <Use use>
inline void AccessJudge::track(Region& region, std::uint64_t address, std::uint64_t size, std::uint64_t note) {
  const std::uint32_t floor = region.lasts_a_block ? clock_.first_of_block() : clock_.first_of_launch();
  const bool races = region.tracks_races && in_kernel();
  const std::uint64_t last = (address + size - 1) >> 2;
  for (std::uint64_t at = address >> 2; at <= last; ++at) {
    WordShadow& word = region.shadow()[at - (region.base >> 2)];
    const std::uint64_t skipped = at == address >> 2 ? address & 3 : 0;
    const std::uint64_t beyond = at == last ? 3 - ((address + size - 1) & 3) : 0;
    const auto bytes = static_cast<std::uint32_t>((15u >> beyond) & (15u << skipped));
    if (region.lasts_a_block && shadow_entry::interval(word.write) < floor) {
      word.read &= ~std::uint64_t{15};
    }
    if (use != Use::write && region.tracks_init && (word.read & bytes) != bytes) {
      report_uninitialised(region, address, size, note);
    }
    if (races) {
      const Conflict conflict = use == Use::read
                                    ? clock_.read(word, bytes, floor)
                                    : clock_.write(word, bytes, floor, use == Use::atomic ? atomic_ : Writing::plain);
      if (conflict.entry != 0) {
        report_race(region, address, size, note, use, conflict);
      }
    }
    if (use != Use::read) {
      word.read |= bytes;
    }
  }
}

}  // namespace esc
