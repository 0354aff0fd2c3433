// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/access_judge.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <exception>
#include <iterator>
#include <optional>
#include <utility>

#include "generator/support/error.h"

namespace esc {
namespace {

std::string describe(const Dim3& at) { return fmt::format("({},{},{})", at.x, at.y, at.z); }

const char* verb(Use use) {
  switch (use) {
    case Use::read:
      return "read";
    case Use::write:
      return "write";
    case Use::atomic:
      return "atomic update";
  }
  return "access";
}

Region module_region(const ProgramVariable& variable) {
  Region region;
  region.base = variable.address;
  region.bytes = variable.bytes;
  switch (variable.kind) {
    case GlobalKind::constant:
      region.name = fmt::format("constant '{}'", variable.name);
      region.denied = device_write | host_write;
      break;
    case GlobalKind::device:
      region.name = fmt::format("device variable '{}'", variable.name);
      region.denied = host_read | host_write;
      region.tracks_races = true;
      region.add_shadow();
      break;
    case GlobalKind::host:
      region.name = fmt::format("host variable '{}'", variable.name);
      region.denied = device_read | device_write;
      break;
    case GlobalKind::compiler:
      region.name = fmt::format("constant data '{}'", variable.name);
      region.denied = device_write | host_write;
      break;
  }
  return region;
}

Region shared_region(std::string name, std::uint64_t base, std::uint64_t bytes) {
  Region region;
  region.name = std::move(name);
  region.base = base;
  region.bytes = bytes;
  region.denied = host_read | host_write;
  region.tracks_init = true;
  region.tracks_races = true;
  region.lasts_a_block = true;
  region.add_shadow();
  return region;
}

}  // namespace

AccessJudge::AccessJudge(EmulationOptions options) : options_(std::move(options)) { regions_changed(); }

void AccessJudge::load(const HostProgram& program) {
  ESC_CHECK(program_ == nullptr, "a device runs one program at a time");
  program_ = &program;
  const auto add = [&](Region region) { program_regions_.push_back(&memory_.add(std::move(region))); };
  for (const ProgramVariable& variable : program.variables()) {
    add(module_region(variable));
  }
  for (const ProgramVariable& variable : program.shared_variables()) {
    add(shared_region(fmt::format("shared memory '{}'", variable.name), variable.address, variable.bytes));
  }
  if (!program.kernels().empty()) {
    add(shared_region("dynamic shared memory", program.dynamic_shared(), kMaxSharedBytes));
    dynamic_shared_ = memory_.find(program.dynamic_shared(), 1);
    dynamic_shared_->bytes = 0;
  }
  regions_changed();
}

void AccessJudge::unload() {
  for (const Region* region : program_regions_) {
    memory_.remove(*region);
  }
  program_regions_.clear();
  dynamic_shared_ = nullptr;
  program_ = nullptr;
  regions_changed();
}

void AccessJudge::begin_launch(const Launch& launch) {
  if (clock_.wants_reset()) {
    for (const auto& region : memory_.regions()) {
      region->forget_accesses();
    }
    clock_.reset();
  }
  clock_.begin_launch(program_->orders_single_threads() ? static_cast<std::uint32_t>(launch.block.volume()) : 0);
  dynamic_shared_->bytes = launch.dynamic_shared;
  launch_ = &launch;
  launch_stopped_ = false;
  read_mode_ = device_read;
  write_mode_ = device_write;
}

void AccessJudge::end_launch() {
  dynamic_shared_->bytes = 0;
  launch_ = nullptr;
  read_mode_ = host_read;
  write_mode_ = host_write;
}

void AccessJudge::enter_stack(Context& running, Context& next) {
  running_ = &running;
  next_ = &next;
  stopped_ = false;
  stack_bottom_ = running.stack_bottom();
  stack_bytes_ = running.stack_bytes();
  registers().stack_limit = stack_bottom_ + kStackMargin;
}

void AccessJudge::stop() {
  stopped_ = true;
  Context::switch_to(*running_, *next_);
  std::terminate();  // nobody continues an abandoned context
}

void AccessJudge::stop_launch() {
  launch_stopped_ = true;
  stop();
}

void AccessJudge::forget_faults() {
  faults_.clear();
  known_faults_.clear();
}

void AccessJudge::report(FaultKind kind, std::uint32_t site, const std::string& subject,
                         const std::function<std::string()>& describe_fault) {
  const std::string kernel = in_kernel() ? launch_->kernel->facts.name : std::string();
  if (!known_faults_.emplace(kind, kernel, site, subject).second) {
    return;
  }
  EmulationFault fault{kind, kernel, describe_site(site), {0, 0, 0}, {0, 0, 0}, {}};
  std::string who = fmt::format("host code at {}", fault.place);
  if (in_kernel()) {
    fault.block = registers().block_index;
    fault.thread = registers().thread_index;
    who = fmt::format("kernel '{}' at {}, block {}, thread {}", kernel, fault.place, describe(fault.block),
                      describe(fault.thread));
  }
  fault.message = fmt::format("{}: {}: {}", to_string(kind), who, describe_fault());
  faults_.push_back(std::move(fault));
}

Region* AccessJudge::locate(std::uint64_t address, std::uint64_t size, std::uint64_t note, Use use) {
  if (is_on_stack(address, size)) {
    return nullptr;
  }
  if (Region* region = memory_.find(address, size)) {
    recent_[AccessNote::site(note) & 255] = region;
    return region;
  }
  if (size == 0 || (!in_kernel() && !options_.check_host_accesses)) {
    return nullptr;
  }
  report(FaultKind::out_of_bounds, AccessNote::site(note), verb(use),
         [&] { return fmt::format("{} of {} bytes {}", verb(use), size, memory_.describe_nearest(address, size)); });
  stop();
}

void AccessJudge::refuse_alignment(const Region& region, std::uint64_t address, std::uint64_t size, std::uint64_t note,
                                   Use use) {
  report(FaultKind::misaligned, AccessNote::site(note), region.name, [&] {
    return fmt::format("{} of {} bytes at offset {} of {}, address {:#x}, is not a multiple of {} as its type promises",
                       verb(use), size, address - region.base, region.name, address, AccessNote::alignment(note));
  });
  stop();
}

void AccessJudge::refuse_mode(const Region& region, std::uint64_t address, std::uint64_t size, std::uint64_t note,
                              Use use) {
  const std::uint8_t space = in_kernel() ? device_read : host_read;
  const bool whole_space = (region.denied & space) != 0;
  if (!whole_space && (region.denied & write_mode_ & before_wait) != 0) {
    report(FaultKind::before_wait, AccessNote::site(note), region.name, [&] {
      return fmt::format(
          "{} of {} bytes at offset {} of {}, which the kernel before may still use: nothing has waited for it",
          verb(use), size, address - region.base, region.name);
    });
    stop();
  }
  report(whole_space ? FaultKind::forbidden_space : FaultKind::read_only, AccessNote::site(note), region.name, [&] {
    const std::string what =
        fmt::format("{} of {} bytes at offset {} of {}", verb(use), size, address - region.base, region.name);
    if (!whole_space) {
      return what + ", which is read-only";
    }
    return (in_kernel() ? "device code touches host memory: " : "host code touches device memory: ") + what;
  });
  stop();
}

const Occupied* AccessJudge::find_occupied(std::uint64_t address, std::uint64_t size) const {
  const auto behind = occupied_.lower_bound(address + size);
  return behind == occupied_.begin() || std::prev(behind)->second.end <= address ? nullptr : &std::prev(behind)->second;
}

void AccessJudge::check_occupants(const Region& region, std::uint64_t address, std::uint64_t size, std::uint64_t note,
                                  Use use) {
  const Occupied* occupied = find_occupied(address, size);
  if (occupied == nullptr) {
    return;
  }
  const Occupant occupant = occupied->occupant;
  report(
      occupant == Occupant::barrier ? FaultKind::bad_barrier : FaultKind::race, AccessNote::site(note), region.name,
      [&] {
        const std::string what = fmt::format("{} of {} bytes at offset {} of {}, where", verb(use), size,
                                             address - region.base, region.name);
        const std::string thread = describe(occupied->thread);
        return occupant == Occupant::barrier ? fmt::format("{} an asynchronous barrier of thread {} lies", what, thread)
               : occupant == Occupant::cluster_store
                   ? fmt::format("{} thread {} of another block of the cluster stores, which has not been waited for",
                                 what, thread)
                   : fmt::format("{} an asynchronous copy of thread {} is under way, which has not been waited for",
                                 what, thread);
      });
  stop();
}

void AccessJudge::report_uninitialised(const Region& region, std::uint64_t address, std::uint64_t size,
                                       std::uint64_t note) {
  // What a thread's own copy has not brought is not there; a bulk copy may arrive while it is read.
  const Occupied* occupied = region.lasts_a_block ? find_occupied(address, size) : nullptr;
  if (occupied != nullptr && occupied->occupant != Occupant::copy) {
    check_occupants(region, address, size, note, Use::read);
  }
  report(FaultKind::uninitialised, AccessNote::site(note), region.name, [&] {
    return fmt::format(
        "read of {} bytes at offset {} of {}, which nothing has written{}", size, address - region.base, region.name,
        region.lasts_a_block ? " in this block (or whose asynchronous copy has not been waited for)" : "");
  });
  if (exhausted()) {
    stop();
  }
}

void AccessJudge::report_race(const Region& region, std::uint64_t address, std::uint64_t size, std::uint64_t note,
                              Use use, const Conflict& conflict) {
  report(FaultKind::race, AccessNote::site(note), region.name, [&] {
    const Dim3 block = launch_->grid.at(clock_.block_of(conflict.entry));
    const Dim3 thread = launch_->block.at(shadow_entry::thread(conflict.entry));
    const bool same_block = block == registers().block_index;
    if (same_block && shadow_entry::thread(conflict.entry) >= launch_->block.volume()) {
      return fmt::format(
          "{} of {} bytes at offset {} of {}, which an asynchronous copy has written; the thread has not waited "
          "for its phase, nor met one that has",
          verb(use), size, address - region.base, region.name);
    }
    const bool unknown = same_block && thread == registers().thread_index;
    return fmt::format("{} of {} bytes at offset {} of {}; block {}, {} {} the same bytes and no {} orders the two",
                       verb(use), size, address - region.base, region.name, describe(block),
                       unknown ? "a thread of another warp" : fmt::format("thread {}", describe(thread)),
                       conflict.wrote ? "wrote" : "read", same_block ? "barrier" : "launch");
  });
  if (exhausted()) {
    stop();
  }
}

void AccessJudge::check_atomic(std::uint64_t address, std::uint64_t size, Writing operation) {
  ++counters_.atomics;
  atomic_ = operation;
  check<Use::atomic>(address, size, AccessNote::pack(size, static_cast<unsigned>(std::countr_zero(size)), site()));
}

void AccessJudge::begin_copy(std::uint64_t shared, std::uint64_t global, std::uint64_t bytes, std::uint64_t zero_fill) {
  if ((bytes != 4 && bytes != 8 && bytes != 16) || zero_fill > bytes) {
    report(FaultKind::bad_copy, site(), "", [&] {
      return fmt::format("copies {} bytes with {} of them zero; the hardware copies 4, 8 or 16", bytes, zero_fill);
    });
    stop();
  }
  const std::uint64_t note = AccessNote::pack(bytes, static_cast<unsigned>(std::countr_zero(bytes)), site());
  const Region* target = memory_.find(shared, bytes);
  if (target != nullptr && !target->lasts_a_block) {
    report(FaultKind::bad_copy, site(), target->name,
           [&] { return fmt::format("copies to {}, which is not shared memory", target->name); });
    stop();
  }
  if (zero_fill < bytes) {
    check<Use::read>(global, bytes - zero_fill, note);
  }
  occupy(shared, bytes, note, Occupant::copy);
}

void AccessJudge::occupy(std::uint64_t shared, std::uint64_t bytes, std::uint64_t note, Occupant occupant) {
  check<Use::write>(shared, bytes, note);
  memory_.find(shared, bytes)->set_initialised(shared, bytes, false);
  occupied_[shared] = {shared + bytes, occupant, registers().thread_index};
}

void AccessJudge::land(std::uint64_t shared, std::span<const std::byte> bytes, std::uint32_t barrier,
                       std::uint32_t phase) {
  occupied_.erase(shared);
  std::memcpy(reinterpret_cast<void*>(shared), bytes.data(), bytes.size());
  const Region* region = memory_.find(shared, bytes.size());
  for (std::uint64_t at = 0; at < bytes.size(); at += 4) {
    clock_.land(region->word(shared + at), barrier, phase);
  }
}

void AccessJudge::expect_store(std::uint64_t shared, std::uint64_t bytes, std::uint32_t site, const Dim3& thread) {
  check_occupants(*memory_.find(shared, bytes), shared, bytes,
                  AccessNote::pack(bytes, static_cast<unsigned>(std::countr_zero(bytes)), site), Use::write);
  occupied_[shared] = {shared + bytes, Occupant::cluster_store, thread};
}

void AccessJudge::receive_store(std::uint64_t shared, std::span<const std::byte> bytes, std::uint32_t site,
                                const Dim3& thread) {
  occupied_.erase(shared);
  std::memcpy(reinterpret_cast<void*>(shared), bytes.data(), bytes.size());
  const Region* region = memory_.find(shared, bytes.size());
  for (std::uint64_t at = 0; at < bytes.size(); at += 4) {
    WordShadow& word = region->word(shared + at);
    if (std::max(shadow_entry::interval(word.read), shadow_entry::interval(word.write)) >= clock_.previous_turn()) {
      report(FaultKind::race, site, region->name, [&] {
        return fmt::format(
            "thread {} of another block of the cluster stores {} bytes at offset {} of {}, which this block has used "
            "between the same two barriers of the cluster",
            describe(thread), bytes.size(), shared - region->base, region->name);
      });
    }
    clock_.settle(word);
  }
}

std::vector<Region*> AccessJudge::block_regions() const {
  std::vector<Region*> regions;
  for (const auto& region : memory_.regions()) {
    if (region->lasts_a_block) {
      regions.push_back(region.get());
    }
  }
  return regions;
}

SuspendedBlock AccessJudge::suspend_block() {
  SuspendedBlock block{{}, std::exchange(occupied_, {}), clock_.suspend()};
  for (const Region* const region : block_regions()) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(region->base);
    block.memory.push_back({{bytes, bytes + region->bytes}, {region->shadow(), region->shadow() + region->words()}});
  }
  return block;
}

void AccessJudge::resume_block(SuspendedBlock block) {
  const std::vector<Region*> regions = block_regions();
  for (std::size_t at = 0; at < regions.size(); ++at) {
    std::ranges::copy(block.memory.at(at).bytes, reinterpret_cast<std::byte*>(regions[at]->base));
    std::ranges::copy(block.memory.at(at).shadow, regions[at]->shadow());
  }
  occupied_ = std::move(block.occupied);
  clock_.resume(std::move(block.clock));
}

void AccessJudge::check_bulk_source(std::uint64_t global, std::uint64_t bytes, std::uint64_t note) {
  const Region* region = memory_.find(global, bytes);
  if (region == nullptr) {
    report(FaultKind::out_of_bounds, AccessNote::site(note), "copy",
           [&] { return fmt::format("bulk copy of {} bytes {}", bytes, memory_.describe_nearest(global, bytes)); });
    stop();
  }
  if (region->lasts_a_block) {
    report(FaultKind::bad_copy, AccessNote::site(note), region->name,
           [&] { return fmt::format("bulk copy from {}, which is not global memory", region->name); });
    stop();
  }
  check<Use::read>(global, bytes, note);
}

void AccessJudge::check_proxy_read(std::uint64_t shared, std::uint64_t bytes, std::uint64_t note) {
  check<Use::read>(shared, bytes, note);
  const Region* region = memory_.find(shared, bytes);
  for (std::uint64_t at = shared; at < shared + bytes; at += 4) {
    const std::optional<std::uint32_t> writer = clock_.find_unfenced(region->word(at));
    if (!writer) {
      continue;
    }
    report(FaultKind::race, AccessNote::site(note), region->name, [&] {
      return fmt::format(
          "read of {} bytes at offset {} of {} by the asynchronous proxy; thread {} wrote there, and no "
          "fence.proxy.async of that thread is between",
          bytes, shared - region->base, region->name, describe(launch_->block.at(*writer)));
    });
    if (exhausted()) {
      stop();
    }
    return;
  }
}

void AccessJudge::end_copy(const AsyncCopy& copy) {
  const std::uint64_t note = AccessNote::pack(copy.bytes, 2, site());
  occupied_.erase(copy.shared);
  check<Use::write>(copy.shared, copy.bytes, note);
  auto* target = reinterpret_cast<std::byte*>(copy.shared);
  const std::uint64_t copied = copy.bytes - copy.zero_fill;
  std::memcpy(target, reinterpret_cast<const std::byte*>(copy.global), copied);
  std::memset(target + copied, 0, copy.zero_fill);
}

}  // namespace esc
