// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tests/bench/epilogue_candidate.h"
#include "tests/bench/epilogue_peers.h"
#include "tuner/gpu/cublas_peer.h"
#include "tuner/gpu/cusparse_peer.h"
#include "tuner/gpu/device.h"

namespace esc::bench {

/// The ways to compute a layer, in the order of the tables: ours, our product alone for comparison, ours as PyTorch has
/// it, those of others.
const std::vector<std::string>& ways();
constexpr std::size_t ways_of_ours = 6;

/// What all layers are measured with.
struct EpilogueLab {
  explicit EpilogueLab(int architecture) : bias_relu(architecture) {}

  gpu::Stream stream;
  gpu::CublasHandle cublas;
  gpu::CusparseHandle cusparse;
  BiasReluKernel bias_relu;
};

/// Microseconds of the ways that gave a right result, and what each was.
struct Outcome {
  std::map<std::string, double> microseconds;
  std::map<std::string, std::string> algorithm;
  std::size_t wrong = 0;
};

/// Compares the result of each way with the float64 one and times the right ones in turns. Throws DeviceError.
Outcome measure(const Candidate& candidate, const EpilogueLab& lab);

}  // namespace esc::bench
