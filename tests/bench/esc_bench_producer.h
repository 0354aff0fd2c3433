// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "generator/emit/launch_plan.h"
#include "generator/matrix/sparse_matrix.h"
#include "tests/bench/esc_bench_options.h"
#include "tuner/build/build_pool.h"
#include "tuner/build/cubin_store.h"
#include "tuner/gpu/floor.h"

namespace esc::bench {

/// A kernel of ours for one pair, ready for the device, or why there is none.
struct Candidate {
  std::string schedule;                       ///< its canonical text
  std::string illegal;                        ///< why the schedule does not suit the pair; empty if it does
  std::string problem;                        ///< why its kernel does not compile; empty if it does
  std::shared_ptr<const std::byte[]> packed;  ///< the packed matrix
  std::size_t packed_bytes = 0;
  LaunchPlan plan;
  std::shared_ptr<const tuning::Cubin> cubin;
  std::optional<gpu::BlockTile> tile;  ///< where blocks own a tile of C
};

/// A step of a run. The candidates of a pair follow each other, pairs are in order.
struct Item {
  std::size_t pair = 0;     ///< index of its plan
  std::string skipped;      ///< why the pair's matrix cannot be measured; then there is nothing else
  bool unreadable = false;  ///< whether that is so because the file is not a matrix
  std::shared_ptr<const SparseMatrix> matrix;
  std::shared_ptr<const Candidate> candidate;
  bool last = false;  ///< of its pair
};

/// Reads matrices, packs them and compiles kernels on the threads of the host, some way ahead of whoever measures.
class Producer {
 public:
  /// `options` and `pool` must outlive it.
  Producer(const Options& options, std::vector<PairPlan> pairs, int architecture, tuning::BuildPool& pool);
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;
  /// Stops, whatever is left.
  ~Producer();

  /// The next step, waiting for it; nothing at the end. Throws what went wrong on the other threads.
  std::optional<Item> next();

 private:
  struct Job;
  class Jobs;
  void run();
  Item prepare(const Job& job);
  std::shared_ptr<const Candidate> prepare(const Item& item, const Schedule& schedule);
  void push(Item item);

  const Options& options_;
  std::vector<PairPlan> pairs_;
  int architecture_;
  tuning::CubinStore cubins_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> ready_;
  bool ended_ = false;
  bool stopping_ = false;
  std::exception_ptr failure_;
  std::jthread thread_;  ///< last, so that it ends first
};

}  // namespace esc::bench
