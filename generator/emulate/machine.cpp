// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/machine.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <utility>

namespace esc {
namespace {

constexpr std::size_t kHostStackBytes = std::size_t{8} << 20;

/// In an order that follows from the seed alone, whatever library this is built with.
template <typename Number>
void shuffle(std::vector<Number>& numbers, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t left = numbers.size(); left > 1; --left) {
    std::swap(numbers[left - 1], numbers[random() % left]);
  }
}

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
    shuffle(blocks, *options().shuffle_seed + counters().launches);
  }
  return blocks;
}

/// The clusters of these blocks, by the first block of each, which run with all of their blocks.
std::optional<std::vector<std::uint64_t>> Machine::choose_clusters(const Launch& launch) {
  const std::optional<std::vector<std::uint64_t>> blocks = choose_blocks(launch);
  const std::uint64_t cluster_blocks = launch.kernel->facts.cluster_blocks;
  if (cluster_blocks == 1 || !blocks) {
    return blocks;
  }
  std::set<std::uint64_t> begun;
  std::vector<std::uint64_t> firsts;
  for (const std::uint64_t block : *blocks) {
    const std::uint64_t first = block / cluster_blocks * cluster_blocks;
    if (begun.insert(first).second) {
      firsts.push_back(first);
    }
  }
  return firsts;
}

/// From here on the block of this rank in its cluster runs.
BlockRunner& Machine::enter(std::uint32_t rank) {
  while (runners_.size() <= rank) {
    runners_.push_back(std::make_unique<BlockRunner>(*this, cluster_));
  }
  cluster_.enter(rank);
  return *(running_ = runners_[rank].get());
}

/// The last block first, or by chance.
std::vector<std::uint32_t> Machine::order_of_turns(std::uint64_t first_block, std::uint32_t turn) const {
  std::vector<std::uint32_t> ranks(cluster_.blocks());
  std::iota(ranks.rbegin(), ranks.rend(), 0u);
  if (options().shuffle_seed && ranks.size() > 1) {
    shuffle(ranks, *options().shuffle_seed + first_block + turn);
  }
  return ranks;
}

/// The blocks of a cluster take turns, each up to the next barrier of the cluster. False when they were given up.
bool Machine::run_cluster(const Launch& launch, std::uint64_t first_block) {
  const std::uint32_t blocks = launch.kernel->facts.cluster_blocks;
  const bool take_turns = blocks > 1;
  cluster_.begin(blocks);
  std::vector<SuspendedBlock> suspended(take_turns ? blocks : 0);
  std::vector<BlockProgress> progress(blocks, BlockProgress::finished);
  const auto some_are = [&](BlockProgress wanted) { return std::ranges::find(progress, wanted) != progress.end(); };
  for (std::uint32_t turn = 0; turn == 0 || some_are(BlockProgress::at_cluster_barrier); ++turn) {
    if (turn > 0 && some_are(BlockProgress::finished)) {
      give_up_waiting(progress, true);
      return false;
    }
    for (const std::uint32_t rank : order_of_turns(first_block, turn)) {
      BlockRunner& runner = enter(rank);
      if (turn > 0 && take_turns) {
        resume_block(std::move(suspended[rank]));
      }
      progress[rank] = turn > 0 ? runner.go_on() : runner.run(first_block + rank);
      if (progress[rank] == BlockProgress::abandoned) {
        // What the rest of the cluster would find says nothing.
        give_up_waiting(progress, false);
        return false;
      }
      if (progress[rank] == BlockProgress::at_cluster_barrier && take_turns) {
        suspended[rank] = suspend_block();
      }
    }
  }
  return true;
}

/// Gives up the blocks that wait at a barrier of the cluster, which others have not come to, where they are `uneven`.
void Machine::give_up_waiting(const std::vector<BlockProgress>& progress, bool uneven) {
  for (std::uint32_t rank = 0; rank < progress.size(); ++rank) {
    if (progress[rank] != BlockProgress::at_cluster_barrier) {
      continue;
    }
    BlockRunner& runner = enter(rank);
    if (uneven) {
      runner.report_uneven_barriers();
    }
    runner.give_up();
  }
}

bool Machine::run_launch(const Launch& launch) {
  if (exhausted()) {
    return false;
  }
  const Registers saved = registers();
  if (options().before_launch) {
    options().before_launch(info_of(launch));
  }
  const std::optional<std::vector<std::uint64_t>> clusters = choose_clusters(launch);
  begin_launch(launch);
  registers().grid_extent = launch.grid;
  registers().block_extent = launch.block;
  const std::uint32_t cluster_blocks = launch.kernel->facts.cluster_blocks;
  for (std::uint32_t rank = 0; rank < cluster_blocks; ++rank) {
    enter(rank).begin_launch(launch);
  }
  bool whole = true;
  const std::uint64_t count = clusters ? clusters->size() : launch.grid.volume() / cluster_blocks;
  for (std::uint64_t index = 0; index < count; ++index) {
    whole = run_cluster(launch, clusters ? (*clusters)[index] : index * cluster_blocks) && whole;
    if (launch_stopped() || exhausted()) {
      whole = false;
      break;
    }
    if (options().after_block) {
      options().after_block(launch.kernel->facts.name, (index + 1) * cluster_blocks, count * cluster_blocks);
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
