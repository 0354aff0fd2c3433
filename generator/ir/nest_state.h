// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "generator/ir/loop_nest.h"
#include "generator/ir/memory.h"
#include "generator/ir/race_check.h"
#include "generator/ir/thread_state.h"

namespace esc {

/// What a nest's threads see while it is interpreted: sizes, arrays and the values of expressions, always those of the
/// one thread that runs. Throws Defect for what `interpret` calls one.
class NestState {
 public:
  /// Before the nest runs, in a thread that stands for all.
  NestState(const LoopNest& nest, Memory memory);
  NestState(const NestState&) = delete;
  NestState& operator=(const NestState&) = delete;

  /// The memory that the nest leaves.
  Memory take() && { return std::move(memory_); }

  ThreadState& thread() { return *thread_; }
  /// From here on this thread runs. It stays its owner's.
  void run_as(ThreadState& thread) { thread_ = &thread; }

  // The order of what happens, for races.

  /// The blocks that follow are those of a cluster, of whose own arrays nothing is written.
  void begin_cluster();
  /// Nothing of a block's own arrays is written, and nothing of before is beside what follows. Of a cluster it is
  /// the block of this rank, which `run_in_block` comes back to.
  void begin_block(std::size_t rank = 0);
  /// What follows happens in this block of the cluster, which has begun.
  void run_in_block(std::size_t rank) { block_ = &blocks_.at(rank); }
  /// What follows is after a barrier of the cluster, of the block, or of each consumer group or warp.
  void pass_barrier(Scope scope);
  std::int64_t warp_size() const { return warp_size_; }
  void set_warp_size(std::int64_t threads) { warp_size_ = threads; }

  // Values.

  bool holds(const Expression& condition) { return value(condition) != 0; }
  double value(const Expression& expression);
  double value_of(const std::string& name);
  std::int64_t evaluate(const Affine& affine);

  // Arrays.

  std::vector<std::int64_t> extents_of(const ArrayDeclaration& array);
  const ArrayView& find_array(const std::string& name);
  /// The part of an array that some subscripts, of the outermost dimensions, choose. With all of them it is what begins
  /// at that element in the innermost dimension: nothing, where that is after the last one.
  ArrayView part(const Access& access);
  bool is_outside(const ArrayView& view, const Access& access);
  double read(const Access& access);
  /// The element, to be written. No barrier orders the blocks' writes to what is not their own.
  double& write(const Access& access, bool atomic);

  // The pattern of the sparse array.

  std::uint64_t column_mask(std::int64_t first_row, std::int64_t column, int height) const;
  /// The columns of a set, computed once for each row tile and pattern.
  const std::vector<std::int64_t>& columns(const ColumnSet& set);

 private:
  /// A block that has begun: arrays of its own, and how many barriers it has passed.
  struct BlockState {
    std::map<std::string, std::unique_ptr<OwnedArray>, std::less<>> shared;
    std::int64_t phase = 0;
    std::int64_t consumer_group_phase = 0;
    std::int64_t warp_phase = 0;
    std::int64_t cluster_phase = 0;
  };

  double value(const Operation& operation);
  /// What `use` gives for the values of the expressions.
  template <typename Use>
  double with_values(const std::vector<Expression>& expressions, const Use& use);
  std::int64_t index_of(const Subscript& subscript);
  std::int64_t position_of(const ArrayView& view, const Access& access);
  Moment now(const ArrayView& view) const;
  /// Throws where a cluster's own array is touched before all of its blocks are known to have begun.
  void check_begun(const ArrayView& view, const Access& access) const;

  Memory memory_;
  Environment constants_;  ///< of the nest
  NamedValues sizes_;
  std::map<std::string, ArrayView, std::less<>> global_;
  std::deque<std::vector<double>> tables_;       ///< the constants of the nest's own
  std::vector<const ArrayDeclaration*> shared_;  ///< that each block has of its own
  std::map<std::string, std::unique_ptr<OwnedArray>, std::less<>> of_cluster_;
  std::map<std::tuple<std::int64_t, Pattern, Membership>, std::vector<std::int64_t>> columns_;
  RaceCheck races_;
  std::string sparse_;
  ThreadState root_;
  ThreadState* thread_ = nullptr;
  std::deque<BlockState> blocks_ = std::deque<BlockState>(1);  ///< by rank in the cluster
  BlockState* block_ = &blocks_.front();
  std::int64_t latest_phase_ = 0;         ///< of all blocks, between barriers of any scope
  std::int64_t first_cluster_phase_ = 0;  ///< of the running cluster
  std::int64_t warp_size_ = 1;
};

}  // namespace esc
