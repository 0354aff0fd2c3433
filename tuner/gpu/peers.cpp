// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/peers.h"

#include "tuner/gpu/cublas_peer.h"
#include "tuner/gpu/cusparse_peer.h"
#include "tuner/gpu/cusparselt_peer.h"
#include "tuner/gpu/device.h"

namespace esc::gpu {
namespace {

PeerAttempt attempt(const PeerAlgorithm& algorithm, double tolerance, const ProductBench& bench, GraphTimer& timer,
                    const TimingOptions& options) {
  PeerAttempt result{.algorithm = algorithm.name, .problem = {}, .error = 0, .timing = {}};
  try {
    const std::unique_ptr<PeerProduct> product = algorithm.make(1);
    const JudgedTiming judged = bench.judge_and_time(
        timer, [&](cudaStream_t stream, std::size_t copy) { product->launch(stream, copy); }, tolerance, options);
    result.problem = judged.judgement.problem;
    result.error = judged.judgement.error;
    result.timing = judged.timing;
  } catch (const DeviceError& error) {
    if (!still_works()) {
      throw;
    }
    result.problem = error.what();
  }
  return result;
}

}  // namespace

struct PeerLibraries::Handles {
  CublasHandle cublas;
  CusparseHandle cusparse;
  CusparseLt cusparselt;
};

PeerLibraries::PeerLibraries() : handles_(std::make_unique<Handles>()) {}
PeerLibraries::~PeerLibraries() = default;

std::string PeerLibraries::cublas_version() const { return handles_->cublas.version(); }
std::string PeerLibraries::cusparse_version() const { return handles_->cusparse.version(); }

std::string PeerLibraries::cusparselt_version() const {
  return cusparselt_absence().empty() ? handles_->cusparselt.version() : "";
}
std::string PeerLibraries::cusparselt_absence() const { return handles_->cusparselt.absence(); }

std::vector<std::string> PeerLibraries::names(ScalarType element) const {
  std::vector<std::string> names = cublas_names(element);
  names.emplace_back("cusparse");
  if (cusparselt_absence().empty()) {
    names.emplace_back(cusparselt_name);
  }
  return names;
}

std::vector<Peer> PeerLibraries::peers_for(const ProductBench& bench) const {
  if (!bench.is_plain()) {
    return {};
  }
  std::vector<Peer> peers = cublas_peers(handles_->cublas, bench);
  peers.push_back(cusparse_peer(handles_->cusparse, bench));
  if (cusparselt_absence().empty()) {
    peers.push_back(cusparselt_peer(handles_->cusparselt, bench));
  }
  return peers;
}

PeerResult measure_peer(const Peer& peer, const ProductBench& bench, GraphTimer& timer, const PeerTimings& timings) {
  PeerResult result{.peer = peer.name, .attempts = {}, .best = {}, .best_cold = {}};
  if (peer.algorithms.empty()) {
    result.attempts.push_back({.algorithm = "none", .problem = peer.problem, .error = 0, .timing = {}});
  }
  const PeerAlgorithm* best = nullptr;
  double best_time = 0;
  for (const PeerAlgorithm& algorithm : peer.algorithms) {
    const PeerAttempt& tried =
        result.attempts.emplace_back(attempt(algorithm, peer.tolerance, bench, timer, timings.attempt));
    if (tried.problem.empty() && (best == nullptr || tried.timing.microseconds < best_time)) {
      best = &algorithm;
      best_time = tried.timing.microseconds;
    }
  }
  if (best == nullptr) {
    return result;
  }
  // The least of several times is too low by chance; a second measurement is not.
  const PeerAttempt again = attempt(*best, peer.tolerance, bench, timer, timings.best);
  if (!again.problem.empty()) {
    result.attempts.push_back(again);
    return result;
  }
  result.best = again;
  if (timings.cold) {
    try {
      const std::size_t copies = bench.cold_copies(peer.a_bytes);
      const std::unique_ptr<PeerProduct> product = best->make(copies);
      result.best_cold = timer.measure([&](cudaStream_t stream, std::size_t copy) { product->launch(stream, copy); },
                                       timings.best, copies);
    } catch (const DeviceError& error) {
      if (!still_works()) {
        throw;
      }
      result.attempts.push_back(
          {.algorithm = best->name + ", cold", .problem = error.what(), .error = 0, .timing = {}});
    }
  }
  return result;
}

}  // namespace esc::gpu
