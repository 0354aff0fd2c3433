#include "generator/emulate/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

#include "generator/emulate/host_library.h"
#include "generator/support/error.h"

namespace esc {
namespace {

constexpr std::size_t kHostStackBytes = std::size_t{8} << 20;

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

Machine::Machine(EmulationOptions options) : options_(std::move(options)), runner_(*this) { regions_changed(); }

void Machine::load(const HostProgram& program) {
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
  for (const auto& [address, bytes] : host_library_variables()) {
    Region region;
    region.name = "variable of the C library";
    region.base = address;
    region.bytes = bytes;
    region.denied = device_read | device_write | host_write;
    add(std::move(region));
  }
  regions_changed();
}

void Machine::unload() {
  for (const Region* region : program_regions_) {
    memory_.remove(*region);
  }
  program_regions_.clear();
  dynamic_shared_ = nullptr;
  program_ = nullptr;
  regions_changed();
}

bool Machine::run_host(const HostProgram& program, const std::function<void()>& work) {
  ESC_CHECK(program_ == nullptr, "a device runs one program at a time");
  if (host_stack_.size() == 0) {
    host_stack_ = MappedMemory(kHostStackBytes, kPageBytes);
  }
  load(program);
  host_work_ = &work;
  host_finished_ = false;
  host_error_ = nullptr;
  host_.start(
      host_stack_.data(), host_stack_.size(),
      [](void* self) {
        auto& machine = *static_cast<Machine*>(self);
        try {
          (*machine.host_work_)();
          machine.host_finished_ = true;
        } catch (...) {
          machine.host_error_ = std::current_exception();
        }
        Context::switch_to(machine.host_, machine.native_);
      },
      this);
  program.registers().fuel = options_.host_steps;
  enter_stack(host_);
  Context::switch_to(native_, host_);
  unload();
  if (host_error_) {
    std::rethrow_exception(std::exchange(host_error_, nullptr));
  }
  return host_finished_;
}

void Machine::enter_stack(const Context& context) {
  stack_bottom_ = context.stack_bottom();
  stack_bytes_ = context.stack_bytes();
  program_->registers().stack_limit = stack_bottom_ + kStackMargin;
}

/// The blocks to run in their order; nothing where it is simply all of them.
std::optional<std::vector<std::uint64_t>> Machine::choose_blocks(const Launch& launch) const {
  if (!options_.select_blocks && !options_.shuffle_seed) {
    return std::nullopt;
  }
  std::vector<std::uint64_t> blocks;
  if (options_.select_blocks) {
    blocks = options_.select_blocks(
        {launch.kernel->facts.name, launch.grid, launch.block, launch.dynamic_shared, counters_.launches});
    std::erase_if(blocks, [&](std::uint64_t block) { return block >= launch.grid.volume(); });
  } else {
    blocks.resize(launch.grid.volume());
    std::iota(blocks.begin(), blocks.end(), std::uint64_t{0});
  }
  if (options_.shuffle_seed) {
    std::mt19937_64 random(*options_.shuffle_seed + counters_.launches);
    for (std::size_t left = blocks.size(); left > 1; --left) {
      std::swap(blocks[left - 1], blocks[random() % left]);
    }
  }
  return blocks;
}

bool Machine::run_launch(const Launch& launch) {
  if (exhausted()) {
    return false;
  }
  Registers& registers = program_->registers();
  const Registers saved = registers;
  const std::optional<std::vector<std::uint64_t>> blocks = choose_blocks(launch);
  if (clock_.wants_reset()) {
    for (const auto& region : memory_.regions()) {
      region->forget_accesses();
    }
    clock_.reset();
  }
  clock_.begin_launch();
  dynamic_shared_->bytes = launch.dynamic_shared;
  launch_ = &launch;
  launch_stopped_ = false;
  read_mode_ = device_read;
  write_mode_ = device_write;
  registers.grid_extent = launch.grid;
  registers.block_extent = launch.block;
  runner_.begin_launch(launch);
  bool whole = true;
  const std::uint64_t count = blocks ? blocks->size() : launch.grid.volume();
  for (std::uint64_t index = 0; index < count; ++index) {
    whole = runner_.run(blocks ? (*blocks)[index] : index) && whole;
    if (launch_stopped_ || exhausted()) {
      whole = false;
      break;
    }
    if (options_.after_block) {
      options_.after_block(launch.kernel->facts.name, index + 1, count);
    }
  }
  ++counters_.launches;
  launch_ = nullptr;
  read_mode_ = host_read;
  write_mode_ = host_write;
  dynamic_shared_->bytes = 0;
  registers = saved;
  enter_stack(host_);
  return whole;
}

void Machine::stop() {
  if (in_kernel()) {
    runner_.abandon();
  }
  Context::switch_to(host_, native_);
  std::terminate();  // nobody continues an abandoned context
}

void Machine::stop_launch() {
  launch_stopped_ = true;
  stop();
}

void Machine::stop_with(std::exception_ptr error) {
  host_error_ = std::move(error);
  launch_ = nullptr;
  read_mode_ = host_read;
  write_mode_ = host_write;
  stop();
}

void Machine::forget_faults() {
  faults_.clear();
  known_faults_.clear();
}

void Machine::report(FaultKind kind, std::uint32_t site, const std::string& subject,
                     const std::function<std::string()>& describe_fault) {
  const std::string kernel = in_kernel() ? launch_->kernel->facts.name : std::string();
  if (!known_faults_.emplace(kind, kernel, site, subject).second) {
    return;
  }
  EmulationFault fault{kind, kernel, describe_site(site), {0, 0, 0}, {0, 0, 0}, {}};
  std::string who = fmt::format("host code at {}", fault.place);
  if (in_kernel()) {
    fault.block = program_->registers().block_index;
    fault.thread = program_->registers().thread_index;
    who = fmt::format("kernel '{}' at {}, block {}, thread {}", kernel, fault.place, describe(fault.block),
                      describe(fault.thread));
  }
  fault.message = fmt::format("{}: {}: {}", to_string(kind), who, describe_fault());
  faults_.push_back(std::move(fault));
}

Region* Machine::locate(std::uint64_t address, std::uint64_t size, std::uint64_t note, Use use) {
  if (size <= stack_bytes_ && address - stack_bottom_ <= stack_bytes_ - size) {
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

void Machine::refuse_alignment(const Region& region, std::uint64_t address, std::uint64_t size, std::uint64_t note,
                               Use use) {
  report(FaultKind::misaligned, AccessNote::site(note), region.name, [&] {
    return fmt::format("{} of {} bytes at offset {} of {}, address {:#x}, is not a multiple of {} as its type promises",
                       verb(use), size, address - region.base, region.name, address, AccessNote::alignment(note));
  });
  stop();
}

void Machine::refuse_mode(const Region& region, std::uint64_t address, std::uint64_t size, std::uint64_t note,
                          Use use) {
  const std::uint8_t space = in_kernel() ? device_read : host_read;
  const bool whole_space = (region.denied & space) != 0;
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

void Machine::report_uninitialised(const Region& region, std::uint64_t address, std::uint64_t size,
                                   std::uint64_t note) {
  report(FaultKind::uninitialised, AccessNote::site(note), region.name, [&] {
    return fmt::format(
        "read of {} bytes at offset {} of {}, which nothing has written{}", size, address - region.base, region.name,
        region.lasts_a_block ? " in this block (or whose asynchronous copy has not been waited for)" : "");
  });
  if (exhausted()) {
    stop();
  }
}

void Machine::report_race(const Region& region, std::uint64_t address, std::uint64_t size, std::uint64_t note, Use use,
                          const Conflict& conflict) {
  report(FaultKind::race, AccessNote::site(note), region.name, [&] {
    const Dim3 block = launch_->grid.at(clock_.block_of(conflict.entry));
    const Dim3 thread = launch_->block.at(shadow_entry::thread(conflict.entry));
    const bool same_block = block == program_->registers().block_index;
    const bool unknown = same_block && thread == program_->registers().thread_index;
    return fmt::format("{} of {} bytes at offset {} of {}; block {}, {} {} the same bytes and no {} orders the two",
                       verb(use), size, address - region.base, region.name, describe(block),
                       unknown ? "a thread of another warp" : fmt::format("thread {}", describe(thread)),
                       conflict.wrote ? "wrote" : "read", same_block ? "barrier" : "launch");
  });
  if (exhausted()) {
    stop();
  }
}

void Machine::check_atomic(std::uint64_t address, std::uint64_t size) {
  ++counters_.atomics;
  check<Use::atomic>(address, size, AccessNote::pack(size, static_cast<unsigned>(std::countr_zero(size)), site()));
}

void Machine::begin_copy(std::uint64_t shared, std::uint64_t global, std::uint64_t bytes, std::uint64_t zero_fill) {
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
  check<Use::write>(shared, bytes, note);
  memory_.find(shared, bytes)->set_initialised(shared, bytes, false);
}

void Machine::end_copy(const AsyncCopy& copy) {
  const std::uint64_t note = AccessNote::pack(copy.bytes, 2, site());
  check<Use::write>(copy.shared, copy.bytes, note);
  auto* target = reinterpret_cast<std::byte*>(copy.shared);
  const std::uint64_t copied = copy.bytes - copy.zero_fill;
  std::memcpy(target, reinterpret_cast<const std::byte*>(copy.global), copied);
  std::memset(target + copied, 0, copy.zero_fill);
}

}  // namespace esc
