// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "generator/emulate/access_judge.h"
#include "generator/emulate/block_runner.h"
#include "generator/emulate/open_files.h"

namespace esc {

/// The state after an EmulatedDevice: what hooks work on. Runs host functions and launches, their accesses judged.
class Machine : public AccessJudge {
 public:
  explicit Machine(EmulationOptions options) : AccessJudge(std::move(options)), cluster_(*this) { enter(0); }

  /// Runs `work`, which calls functions of `program`, on a stack of its own. False when a fault ended it early.
  /// An exception of `work` or of the emulator passes through.
  bool run_host(const HostProgram& program, const std::function<void()>& work);

  /// Runs the blocks of a launch. False when it was given up after a fault.
  bool run_launch(const Launch& launch);

  /// Ends the host function with an exception for the caller of `run_host`.
  [[noreturn]] void stop_with(std::exception_ptr error);

  /// Of the block that runs.
  BlockRunner& runner() { return *running_; }

  /// State of the CUDA runtime: the latest error, and limits raised per kernel (by address).
  int last_error = 0;
  std::uint64_t fallible_calls = 0;  ///< that may be told to fail, so far
  std::map<std::uint64_t, int> dynamic_shared_limits;
  std::set<std::string> prepared_kernels;  ///< whose attributes were asked for
  /// What host code has open of the files of the options.
  OpenFiles open_files;

 private:
  LaunchInfo info_of(const Launch& launch);
  std::optional<std::vector<std::uint64_t>> choose_blocks(const Launch& launch);
  std::optional<std::vector<std::uint64_t>> choose_clusters(const Launch& launch);
  bool run_cluster(const Launch& launch, std::uint64_t first_block);
  std::vector<std::uint32_t> order_of_turns(std::uint64_t first_block, std::uint32_t turn) const;
  void give_up_waiting(const std::vector<BlockProgress>& progress, bool uneven);
  BlockRunner& enter(std::uint32_t rank);

  BlockCluster cluster_;
  std::vector<std::unique_ptr<BlockRunner>> runners_;  ///< by rank in the cluster
  BlockRunner* running_ = nullptr;
  MappedMemory host_stack_;
  Context host_;
  Context native_;
  const std::function<void()>* host_work_ = nullptr;
  bool host_finished_ = false;
  std::exception_ptr host_error_;
};

}  // namespace esc
