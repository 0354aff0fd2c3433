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

void BlockCluster::begin(std::uint32_t blocks) {
  passed_.assign(blocks, 0);
  left_.assign(blocks, {});
}

void BlockCluster::end_block() {
  for (const auto& [address, left] : left_[rank_]) {
    judge_.report(FaultKind::race, left.site, kStore, [&] {
      return fmt::format(
          "thread ({},{},{}) of block ({},{},{}) of the cluster stores {} bytes here, after which that block waits "
          "for no barrier of the cluster",
          left.thread.x, left.thread.y, left.thread.z, left.block.x, left.block.y, left.block.z, left.bytes.size());
    });
  }
}

void BlockCluster::report_uneven_barriers(std::uint32_t site) {
  judge_.report(FaultKind::divergent_barrier, site, "cluster", [&] {
    return fmt::format(
        "the block waits at a barrier of its cluster, number {}, which another block of it never reaches",
        passed_[rank_] + 1);
  });
}

void BlockCluster::pass_barrier() {
  const std::uint32_t passed = ++passed_[rank_];
  LeftAt& here = left_[rank_];
  for (auto at = here.begin(); at != here.end();) {
    if (at->second.barriers < passed) {
      judge_.receive_store(at->first, at->second.bytes, at->second.site, at->second.thread);
      at = here.erase(at);
    } else {
      judge_.expect_store(at->first, at->second.bytes.size(), at->second.site, at->second.thread);
      ++at;
    }
  }
}

std::uint32_t BlockCluster::map(std::uint32_t address, std::uint32_t rank) const {
  if (rank >= left_.size()) {
    judge_.refuse(FaultKind::bad_operand, kStore,
                  [&] { return fmt::format("mapa to block {} of a cluster of {}", rank, left_.size()); });
  }
  if (address > kAddressMask) {
    judge_.refuse(FaultKind::limit, kStore,
                  [] { return std::string("more shared memory than the emulator maps to other blocks"); });
  }
  return address | (rank + 1) << kRankShift;
}

void BlockCluster::store(std::uint32_t mapped, std::vector<std::byte> bytes) {
  const std::uint32_t target = mapped >> kRankShift;
  if (target == 0 || target > left_.size()) {
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
  if (target - 1 == rank_) {
    judge_.refuse(FaultKind::limit, kStore, [&] {
      return fmt::format("block {} of a cluster stores into itself: followed are stores to other blocks alone", rank_);
    });
  }
  if (passed_[rank_] == 0) {
    judge_.refuse(FaultKind::race, kStore, [&] {
      return fmt::format(
          "store into block {} of the cluster, which may not have begun: no barrier of the cluster is before it",
          target - 1);
    });
  }
  LeftAt& there = left_[target - 1];
  const auto after = there.lower_bound(address + size);
  if (after != there.begin() && std::prev(after)->first + std::prev(after)->second.bytes.size() > address) {
    const Left& other = std::prev(after)->second;
    judge_.refuse(FaultKind::race, kStore, [&] {
      return fmt::format(
          "store of {} bytes at offset {} of {} in block {} of the cluster, where thread ({},{},{}) of block "
          "({},{},{}) stores as well",
          size, address - region->base, region->name, target - 1, other.thread.x, other.thread.y, other.thread.z,
          other.block.x, other.block.y, other.block.z);
    });
  }
  there[address] = {std::move(bytes), passed_[rank_], judge_.site(), judge_.registers().block_index,
                    judge_.registers().thread_index};
}

}  // namespace esc
