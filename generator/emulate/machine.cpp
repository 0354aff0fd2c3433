// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/machine.h"

#include <numeric>
#include <random>
#include <set>
#include <utility>

namespace esc {
namespace {

constexpr std::size_t kHostStackBytes = std::size_t{8} << 20;

}  // namespace

bool Machine::run_host(const HostProgram& program, const std::function<void()>& work) {
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
  program.registers().fuel = options().host_steps;
  enter_stack(host_, native_);
  Context::switch_to(native_, host_);
  unload();
  if (host_error_) {
    std::rethrow_exception(std::exchange(host_error_, nullptr));
  }
  return host_finished_;
}

LaunchInfo Machine::info_of(const Launch& launch) {
  return {launch.kernel->facts.name, launch.grid,         launch.block,
          launch.dynamic_shared,     counters().launches, launch.programmatic};
}

/// The blocks to run in their order; nothing where it is simply all of them.
std::optional<std::vector<std::uint64_t>> Machine::choose_blocks(const Launch& launch) {
  if (!options().select_blocks && !options().shuffle_seed) {
    return std::nullopt;
  }
  std::vector<std::uint64_t> blocks;
  if (options().select_blocks) {
    blocks = options().select_blocks(info_of(launch));
    std::erase_if(blocks, [&](std::uint64_t block) { return block >= launch.grid.volume(); });
  } else {
    blocks.resize(launch.grid.volume());
    std::iota(blocks.begin(), blocks.end(), std::uint64_t{0});
  }
  if (options().shuffle_seed) {
    std::mt19937_64 random(*options().shuffle_seed + counters().launches);
    for (std::size_t left = blocks.size(); left > 1; --left) {
      std::swap(blocks[left - 1], blocks[random() % left]);
    }
  }
  return blocks;
}

/// The same of a kernel with clusters, which run with all of their blocks, the last one first.
std::optional<std::vector<std::uint64_t>> Machine::choose_whole_clusters(const Launch& launch) {
  std::optional<std::vector<std::uint64_t>> blocks = choose_blocks(launch);
  const std::uint64_t cluster_blocks = launch.kernel->facts.cluster_blocks;
  if (cluster_blocks == 1) {
    return blocks;
  }
  if (!blocks) {
    blocks.emplace(launch.grid.volume());
    std::iota(blocks->begin(), blocks->end(), std::uint64_t{0});
  }
  std::set<std::uint64_t> begun;
  std::vector<std::uint64_t> whole;
  for (const std::uint64_t block : *blocks) {
    if (begun.insert(block / cluster_blocks).second) {
      const std::uint64_t first = block / cluster_blocks * cluster_blocks;
      for (std::uint64_t rank = cluster_blocks; rank-- > 0;) {
        whole.push_back(first + rank);
      }
    }
  }
  return whole;
}

bool Machine::run_launch(const Launch& launch) {
  if (exhausted()) {
    return false;
  }
  const Registers saved = registers();
  if (options().before_launch) {
    options().before_launch(info_of(launch));
  }
  const std::optional<std::vector<std::uint64_t>> blocks = choose_whole_clusters(launch);
  begin_launch(launch);
  registers().grid_extent = launch.grid;
  registers().block_extent = launch.block;
  runner_.begin_launch(launch);
  bool whole = true;
  const std::uint64_t cluster_blocks = launch.kernel->facts.cluster_blocks;
  std::optional<std::uint64_t> abandoned_cluster;
  const std::uint64_t count = blocks ? blocks->size() : launch.grid.volume();
  for (std::uint64_t index = 0; index < count; ++index) {
    const std::uint64_t block = blocks ? (*blocks)[index] : index;
    // What the rest of its cluster would find says nothing where a block was abandoned.
    if (abandoned_cluster == block / cluster_blocks) {
      continue;
    }
    if (!runner_.run(block)) {
      whole = false;
      abandoned_cluster = cluster_blocks > 1 ? std::optional(block / cluster_blocks) : std::nullopt;
    }
    if (launch_stopped() || exhausted()) {
      whole = false;
      break;
    }
    if (options().after_block) {
      options().after_block(launch.kernel->facts.name, index + 1, count);
    }
  }
  ++counters().launches;
  end_launch();
  registers() = saved;
  enter_stack(host_, native_);
  return whole;
}

void Machine::stop_with(std::exception_ptr error) {
  host_error_ = std::move(error);
  if (in_kernel()) {
    end_launch();
    enter_stack(host_, native_);
  }
  stop();
}

}  // namespace esc
