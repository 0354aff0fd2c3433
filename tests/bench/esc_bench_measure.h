// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "tests/bench/esc_bench_journal.h"
#include "tests/bench/esc_bench_options.h"
#include "tests/bench/esc_bench_producer.h"
#include "tests/bench/esc_bench_result.h"
#include "tests/bench/peer_plugin.h"
#include "tuner/gpu/device.h"
#include "tuner/gpu/floor.h"
#include "tuner/gpu/graph_timer.h"
#include "tuner/gpu/launch.h"
#include "tuner/gpu/peers.h"
#include "tuner/gpu/product_bench.h"

namespace esc::bench {

using Plugins = std::vector<std::shared_ptr<const PeerPlugin>>;

/// What all measurements of a run share: the device, what is loaded on it, and where results go.
struct Lab {
  /// `journal` must outlive it.
  Lab(const gpu::DeviceFacts& device, const Options& options, Plugins further, Journal& journal_of_run);

  gpu::DeviceFacts facts;
  Options choice;
  Plugins plugins;
  Journal& journal;
  gpu::Stream stream;
  gpu::GraphTimer timer;
  gpu::PeerLibraries libraries;
  std::optional<gpu::FloorKernel> floor;

  /// The names of the peers that the run measures.
  std::set<std::string> peer_names() const;
  /// How many bytes a measurement with nothing in L2 goes over; none where the run has no such.
  std::uint64_t cold_bytes() const { return choice.cold ? 2 * facts.l2_bytes : 0; }

  /// The kernels on the device, loaded when they are first asked for.
  std::shared_ptr<const gpu::LoadedKernels> kernels(const std::shared_ptr<const tuning::Cubin>& cubin);

 private:
  struct Loaded {
    std::shared_ptr<const tuning::Cubin> cubin;  ///< keeps its address, the key, from being used again
    std::shared_ptr<const gpu::LoadedKernels> kernels;
  };
  std::map<const tuning::Cubin*, Loaded> loaded_;
};

/// The measurements of one pair.
class PairMeasurement {
 public:
  PairMeasurement(Lab& lab, const PairPlan& plan, std::shared_ptr<const SparseMatrix> matrix);

  /// Measures the peers, if the run has them. Throws DeviceError when the device has ceased to work.
  void measure_peers();
  /// Judges and times a kernel, unless it is illegal, and writes its record. Says on standard error what is wrong with
  /// it, and returns whether nothing is. Throws DeviceError when the device has ceased to work.
  bool measure(const std::shared_ptr<const Candidate>& candidate);
  /// Times the best kernels again, and in what further ways the run wants; writes the pair's record.
  PairResult finish();

 private:
  struct Row;
  /// The fastest kernel so far.
  struct Leader {
    std::shared_ptr<const Candidate> candidate;
    double microseconds = 0;
    double error = 0;
  };

  void measure_peer(const gpu::Peer& peer, const gpu::ProductBench& bench);
  void run(const Candidate& candidate, Row& row);
  gpu::Operands operands(const gpu::Copies& packed, std::size_t copy) const;
  gpu::Launch launching(const gpu::LayerLaunch& launch, const gpu::Copies& packed, gpu::Edge edge) const;
  void upload(const Candidate& candidate);
  /// Microseconds that `measurement` gives; nothing, with a message, when it fails but the device still works.
  std::optional<double> further(const std::string& what, const std::function<gpu::Timing()>& measurement) const;
  std::optional<BestTime> measure_leader(const std::optional<Leader>& leader, gpu::Edge edge);
  void write_peer(const gpu::PeerResult& result);
  void write(const Row& row);

  Lab& lab_;
  PairPlan plan_;
  std::shared_ptr<const SparseMatrix> matrix_;
  gpu::ProductBench bench_;
  gpu::Copies packed_;
  PairResult result_;
  std::optional<Leader> plain_;
  std::optional<Leader> programmatic_;
};

}  // namespace esc::bench
