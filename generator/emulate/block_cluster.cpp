// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/block_cluster.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace esc {
namespace {

constexpr const char* kStore = "st.shared::cluster";
/// A mapped address has the rank, plus one, above the address.
constexpr unsigned kRankShift = 28;
constexpr std::uint32_t kAddressMask = (1u << kRankShift) - 1;

}  // namespace

void BlockCluster::begin_block(std::uint32_t rank, std::uint32_t blocks) {
  rank_ = rank;
  blocks_ = blocks;
  passed_ = 0;
  if (rank + 1 == blocks) {
    left_.assign(blocks, {});
    passed_by_others_.reset();
  }
}

void BlockCluster::end_block() {
  for (const auto& [address, left] : left_[rank_]) {
    judge_.report(FaultKind::race, left.site, kStore, [&] {
      return fmt::format(
          "thread ({},{},{}) of block ({},{},{}) of the cluster stores {} bytes here, behind which that block waits "
          "for no barrier of the cluster",
          left.thread.x, left.thread.y, left.thread.z, left.block.x, left.block.y, left.block.z, left.bytes.size());
    });
  }
  if (passed_by_others_ && *passed_by_others_ != passed_) {
    judge_.report(FaultKind::divergent_barrier, judge_.site(), "cluster", [&] {
      return fmt::format("the block passes {} barriers of its cluster, another one {}", passed_, *passed_by_others_);
    });
  }
  passed_by_others_ = passed_;
}

void BlockCluster::pass_barrier() {
  ++passed_;
  LeftAt& here = left_[rank_];
  for (auto at = here.begin(); at != here.end();) {
    if (at->second.barriers < passed_) {
      judge_.receive_store(at->first, at->second.bytes);
      at = here.erase(at);
    } else {
      if (at->second.barriers == passed_) {
        judge_.expect_store(at->first, at->second.bytes.size(), at->second.site, at->second.thread);
      }
      ++at;
    }
  }
}

std::uint32_t BlockCluster::map(std::uint32_t address, std::uint32_t rank) const {
  if (rank >= blocks_) {
    judge_.refuse(FaultKind::bad_operand, kStore,
                  [&] { return fmt::format("mapa to block {} of a cluster of {}", rank, blocks_); });
  }
  if (address > kAddressMask) {
    judge_.refuse(FaultKind::limit, kStore,
                  [] { return std::string("more shared memory than the emulator maps to other blocks"); });
  }
  return address | (rank + 1) << kRankShift;
}

void BlockCluster::store(std::uint32_t mapped, std::vector<std::byte> bytes) {
  const std::uint32_t target = mapped >> kRankShift;
  if (target == 0 || target > blocks_) {
    judge_.refuse(FaultKind::bad_operand, kStore,
                  [] { return fmt::format("{} to an address that mapa has not given", kStore); });
  }
  const std::uint64_t address = judge_.program().shared_window() + (mapped & kAddressMask);
  const std::uint64_t size = bytes.size();
  const Region* region = judge_.find_region(address, size);
  if (region == nullptr || !region->lasts_a_block) {
    judge_.refuse(FaultKind::out_of_bounds, kStore, [&] {
      return fmt::format("{} of {} bytes {}", kStore, size, judge_.memory().describe_nearest(address, size));
    });
  }
  if (address % size != 0) {
    judge_.refuse(FaultKind::misaligned, kStore, [&] {
      return fmt::format("{} of {} bytes at offset {} of {}", kStore, size, address - region->base, region->name);
    });
  }
  if (target - 1 >= rank_) {
    judge_.refuse(FaultKind::limit, kStore, [&] {
      return fmt::format("block {} of a cluster stores into block {}: followed are stores to blocks in front alone",
                         rank_, target - 1);
    });
  }
  if (passed_ == 0) {
    judge_.refuse(FaultKind::race, kStore, [&] {
      return fmt::format(
          "store into block {} of the cluster, which may not have begun: no barrier of the cluster stands in front",
          target - 1);
    });
  }
  LeftAt& there = left_[target - 1];
  const auto behind = there.lower_bound(address + size);
  if (behind != there.begin() && std::prev(behind)->first + std::prev(behind)->second.bytes.size() > address) {
    const Left& other = std::prev(behind)->second;
    judge_.refuse(FaultKind::race, kStore, [&] {
      return fmt::format(
          "store of {} bytes at offset {} of {} in block {} of the cluster, where thread ({},{},{}) of block "
          "({},{},{}) stores as well",
          size, address - region->base, region->name, target - 1, other.thread.x, other.thread.y, other.thread.z,
          other.block.x, other.block.y, other.block.z);
    });
  }
  there[address] = {std::move(bytes), passed_, judge_.site(), judge_.registers().block_index,
                    judge_.registers().thread_index};
}

}  // namespace esc
