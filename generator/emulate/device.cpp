// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "generator/emulate/active_machine.h"
#include "generator/support/error.h"

namespace esc {
namespace {

constexpr std::size_t kGapBytes = std::size_t{64} << 20;

std::string region_name(const std::string& buffer) { return fmt::format("buffer '{}'", buffer); }

std::uint8_t denied_modes(const BufferUse& use) {
  const bool host = use.space == BufferUse::Space::host;
  const int other_space = host ? device_read | device_write : host_read | host_write;
  const int writes = use.access == BufferUse::Access::read_only ? device_write | host_write : 0;
  return static_cast<std::uint8_t>(other_space | writes | (use.of_predecessor ? before_wait : 0));
}

Region& named(Machine& machine, const std::string& buffer) {
  Region* region = machine.memory().find(region_name(buffer));
  if (region == nullptr) {
    throw UserError(region_name(buffer), "is not registered", "register it first");
  }
  return *region;
}

}  // namespace

EmulatedDevice::EmulatedDevice(EmulationOptions options) : machine_(std::make_unique<Machine>(std::move(options))) {}
EmulatedDevice::EmulatedDevice(EmulatedDevice&&) noexcept = default;
EmulatedDevice& EmulatedDevice::operator=(EmulatedDevice&&) noexcept = default;
EmulatedDevice::~EmulatedDevice() = default;

void EmulatedDevice::add_buffer(const std::string& name, const void* memory, std::size_t bytes, BufferUse use) {
  if (machine_->memory().find(region_name(name)) != nullptr) {
    throw UserError(region_name(name), "is registered already", "choose another name");
  }
  Region region;
  region.name = region_name(name);
  region.base = reinterpret_cast<std::uint64_t>(memory);
  region.bytes = bytes;
  region.denied = denied_modes(use);
  region.tracks_init = use.contents == BufferUse::Contents::poisoned;
  region.tracks_races = use.space == BufferUse::Space::device && use.access == BufferUse::Access::read_write;
  if (region.tracks_init || region.tracks_races) {
    region.add_shadow();
  }
  machine_->memory().add(std::move(region));
  machine_->regions_changed();
}

std::span<std::byte> EmulatedDevice::allocate(const std::string& name, std::size_t bytes, BufferUse use) {
  MappedMemory memory(bytes, kGapBytes);
  if (use.contents == BufferUse::Contents::poisoned) {
    std::memset(memory.data(), 0xff, bytes);
  }
  add_buffer(name, memory.data(), bytes, use);
  owned_.emplace_back(name, std::move(memory));
  return {owned_.back().second.data(), bytes};
}

void EmulatedDevice::remove_buffer(const std::string& name) {
  machine_->memory().remove(named(*machine_, name));
  machine_->regions_changed();
  std::erase_if(owned_, [&](const auto& buffer) { return buffer.first == name; });
}

void EmulatedDevice::set_contents(const std::string& name, BufferUse::Contents contents) {
  Region& region = named(*machine_, name);
  const bool initialised = contents == BufferUse::Contents::initialised;
  region.tracks_init = !initialised;
  if (region.shadow() == nullptr && !initialised) {
    region.add_shadow();
  }
  region.set_initialised(region.base, region.bytes, initialised);
}

std::uint64_t EmulatedDevice::count_uninitialised(const std::string& name) const {
  return named(*machine_, name).count_uninitialised();
}

void EmulatedDevice::run(const HostProgram& program, const std::function<void()>& work) {
  const ActiveMachine active(*machine_);
  machine_->run_host(program, [&] {
    work();
    if (!machine_->open_files.empty()) {
      machine_->report(FaultKind::left_open, machine_->site(), "fclose",
                       [] { return std::string("returns and has not closed each file that it has opened"); });
    }
  });
  machine_->open_files = {};
}

const std::vector<EmulationFault>& EmulatedDevice::faults() const { return machine_->faults(); }

std::string EmulatedDevice::describe_faults() const {
  std::string text;
  for (const EmulationFault& fault : faults()) {
    text += fault.message + "\n";
  }
  return text;
}

void EmulatedDevice::forget_faults() { machine_->forget_faults(); }

void EmulatedDevice::set_options(EmulationOptions options) { machine_->set_options(std::move(options)); }

void EmulatedDevice::set_files(KnownFiles files) { machine_->set_files(std::move(files)); }

const std::set<std::string>& EmulatedDevice::prepared_kernels() const { return machine_->prepared_kernels; }

const EmulationCounters& EmulatedDevice::counters() const { return machine_->counters(); }

}  // namespace esc
