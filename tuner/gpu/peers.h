// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/gpu/graph_timer.h"
#include "tuner/gpu/peer.h"
#include "tuner/gpu/product_bench.h"

namespace esc::gpu {

/// What became of one algorithm of a peer: times, or a problem.
struct PeerAttempt {
  std::string algorithm;
  std::string problem;
  double error = 0;
  Timing timing;
};

struct PeerResult {
  std::string peer;
  std::vector<PeerAttempt> attempts;  ///< at least one
  std::optional<PeerAttempt> best;    ///< the fastest right one, timed again
  std::optional<Timing> best_cold;    ///< where that was asked for
};

/// The handles of the libraries, made once, and what every product of them shares.
class PeerLibraries {
 public:
  PeerLibraries();
  PeerLibraries(const PeerLibraries&) = delete;
  PeerLibraries& operator=(const PeerLibraries&) = delete;
  ~PeerLibraries();

  /// Versions of cuBLASLt and cuSPARSE, as they count them.
  std::string cublas_version() const;
  std::string cusparse_version() const;
  /// That of cuSPARSELt; empty where it is absent, and then why.
  std::string cusparselt_version() const;
  std::string cusparselt_absence() const;

  /// The names of the peers that products of such elements have.
  std::vector<std::string> names(ScalarType element) const;

  /// cuBLASLt, exact and with TF32, cuSPARSE and, where it is, cuSPARSELt for the bench's product; none where that is
  /// more than A x B. They live no longer than the bench and this object.
  std::vector<Peer> peers_for(const ProductBench& bench) const;

 private:
  struct Handles;
  std::unique_ptr<Handles> handles_;
};

/// How peers are timed: each attempt, and the best one again.
struct PeerTimings {
  TimingOptions attempt;
  TimingOptions best;
  bool cold = false;
};

/// Judges and times all algorithms of a peer. What fails is in the result; throws DeviceError only when the device has
/// ceased to work.
PeerResult measure_peer(const Peer& peer, const ProductBench& bench, GraphTimer& timer, const PeerTimings& timings);

}  // namespace esc::gpu
