#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "generator/emulate/block_runner.h"
#include "generator/emulate/fault.h"
#include "generator/emulate/fibre.h"
#include "generator/emulate/host_program.h"
#include "generator/emulate/instrument.h"
#include "generator/emulate/memory_map.h"
#include "generator/emulate/options.h"
#include "generator/emulate/race_clock.h"

namespace esc {

/// How memory is used by one access.
enum class Use { read, write, atomic };

/// The state behind an EmulatedDevice: what hooks work on. Judges every access before it happens, collects faults and
/// runs host functions and launches.
class Machine {
 public:
  explicit Machine(EmulationOptions options);

  /// Runs `work`, which calls functions of `program`, on a stack of its own. False when a fault ended it early.
  /// An exception of `work` or of the emulator passes through.
  bool run_host(const HostProgram& program, const std::function<void()>& work);

  /// Runs the blocks of a launch. False when it was given up after a fault.
  bool run_launch(const Launch& launch);

  /// Judges an access; returns only when it may be made.
  template <Use use>
  void check(std::uint64_t address, std::uint64_t size, std::uint64_t note);

  /// An atomic operation is about to be made at the place of the latest call.
  void check_atomic(std::uint64_t address, std::uint64_t size);

  /// Asynchronous copies: the bytes are in flight (unreadable) from the first call to the second.
  void begin_copy(std::uint64_t shared, std::uint64_t global, std::uint64_t bytes, std::uint64_t zero_fill);
  void end_copy(const AsyncCopy& copy);

  /// Records a fault at `site`, unless one of its kind is known for this place and `subject`; `describe` is asked only
  /// for new ones. Returns; the caller decides with `stop` whether the code may go on.
  void report(FaultKind kind, std::uint32_t site, const std::string& subject,
              const std::function<std::string()>& describe);
  /// Ends the running thread with its block, or the running host function. Stacks are dropped, not unwound: a function
  /// that may get here must own nothing at that moment.
  [[noreturn]] void stop();
  /// Ends the launch as well.
  [[noreturn]] void stop_launch();
  /// Ends the host function with an exception for the caller of `run_host`.
  [[noreturn]] void stop_with(std::exception_ptr error);

  /// Sets whose stack it is that the running code may touch.
  void enter_stack(const Context& context);

  bool in_kernel() const { return launch_ != nullptr; }
  bool exhausted() const { return faults_.size() >= options_.max_faults; }
  std::uint32_t site() const { return program_->registers().site; }
  std::string describe_site(std::uint32_t site) const { return program_->sites().describe(site); }

  const EmulationOptions& options() const { return options_; }
  const HostProgram& program() const { return *program_; }
  BlockRunner& runner() { return runner_; }
  MemoryMap& memory() { return memory_; }
  RaceClock& clock() { return clock_; }
  EmulationCounters& counters() { return counters_; }
  const std::vector<EmulationFault>& faults() const { return faults_; }
  void forget_faults();
  /// Must follow every change of the set of regions.
  void regions_changed() { recent_.fill(&nowhere_); }

  /// State of the CUDA runtime: the latest error, and limits raised per kernel (by address).
  int last_error = 0;
  std::map<std::uint64_t, int> dynamic_shared_limits;

 private:
  void load(const HostProgram& program);
  void unload();
  std::optional<std::vector<std::uint64_t>> choose_blocks(const Launch& launch) const;
  Region* locate(std::uint64_t address, std::uint64_t size, std::uint64_t note, Use use);
  template <Use use>
  void track(Region& region, std::uint64_t address, std::uint64_t size, std::uint64_t note);
  [[noreturn]] void refuse_alignment(const Region& region, std::uint64_t address, std::uint64_t size,
                                     std::uint64_t note, Use use);
  [[noreturn]] void refuse_mode(const Region& region, std::uint64_t address, std::uint64_t size, std::uint64_t note,
                                Use use);
  void report_uninitialised(const Region& region, std::uint64_t address, std::uint64_t size, std::uint64_t note);
  void report_race(const Region& region, std::uint64_t address, std::uint64_t size, std::uint64_t note, Use use,
                   const Conflict& conflict);

  EmulationOptions options_;
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
  bool launch_stopped_ = false;
  BlockRunner runner_;

  MappedMemory host_stack_;
  Context host_;
  Context native_;
  const std::function<void()>* host_work_ = nullptr;
  bool host_finished_ = false;
  std::exception_ptr host_error_;

  std::vector<EmulationFault> faults_;
  std::set<std::tuple<FaultKind, std::string, std::uint32_t, std::string>> known_faults_;
};

template <Use use>
inline void Machine::check(std::uint64_t address, std::uint64_t size, std::uint64_t note) {
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
  if (region->shadow() != nullptr) {
    track<use>(*region, address, size, note);
  }
}

template <Use use>
inline void Machine::track(Region& region, std::uint64_t address, std::uint64_t size, std::uint64_t note) {
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
      const Conflict conflict =
          use == Use::read ? clock_.read(word, bytes, floor) : clock_.write(word, bytes, floor, use == Use::atomic);
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
