// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/epilogue_measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "generator/matrix/matrix_reader.h"
#include "generator/support/means.h"
#include "generator/verify/reference.h"
#include "generator/verify/transformer_check.h"
#include "tuner/gpu/graph_timer.h"
#include "tuner/gpu/product_bench.h"

namespace esc::bench {
namespace {

constexpr gpu::TimingOptions quick{.launches = 20, .warmups = 1, .replays = 3};
constexpr int turns = 41;
/// Algorithms of a library's product that are tried.
constexpr std::size_t most_algorithms = 8;

/// Columns and rows exchanged.
template <typename Element>
std::vector<Element> transposed(std::span<const Element> elements, std::int64_t rows, std::int64_t columns) {
  std::vector<Element> result(elements.size());
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      result[static_cast<std::size_t>(column * rows + row)] =
          elements[static_cast<std::size_t>(row * columns + column)];
    }
  }
  return result;
}

/// One layer with everything that the ways to compute it read, on the device.
class LayerBench {
 public:
  LayerBench(const Candidate& candidate, const EpilogueLab& lab)
      : candidate_(candidate),
        matrix_(read_matrix(candidate.matrix)),
        lab_(lab),
        bench_(matrix_, candidate.bcol, lab.stream, 0),
        reference_(nest_, matrix_, given_b(), product(), ProductForm::whole) {
    reference_.compute_all();
    const TypedElements b(ScalarType::f32, reference_.b());
    const std::span<const float> elements(b.elements<float>(), b.size());
    b_nk_ = gpu::Copies(std::span<const float>(transposed(elements, matrix_.columns, candidate.bcol)), 1);
    const TypedElements bias(ScalarType::f32, draw_operands(nest_, matrix_.rows, candidate.bcol).front().elements);
    bias_ = gpu::Copies(std::span<const float>(bias.elements<float>(), bias.size()), 1);
    const TypedElements dense = dense_elements(matrix_);
    dense_ = gpu::Copies(std::span<const float>(dense.elements<float>(), dense.size()), 1);
    for (const Kernel* kernel : {&candidate.layer, &candidate.product, &candidate.nk_layer}) {
      packed_.emplace_back(std::span<const std::byte>(kernel->packed.get(), kernel->packed_bytes), 1);
    }
  }

  Outcome measure() {
    keep_ours(ways()[0], ways()[1], {candidate_.schedule, candidate_.layer, packed_[0]});
    keep_ours(ways()[2], ways()[3], {candidate_.schedule, candidate_.product, packed_[1], Activations::kn, false});
    keep_ours(ways()[4], ways()[5], {candidate_.nk_schedule, candidate_.nk_layer, packed_[2], Activations::nk});
    try_all(ways()[6],
            fused_cublas_peer(lab_.cublas, dense_layer(b_nk_.at<const float>(0)), Activations::nk, bench_.tolerance()),
            Activations::nk, false);
    try_all(ways()[7],
            fused_cublas_peer(lab_.cublas, dense_layer(static_cast<const float*>(bench_.b(0))), Activations::kn,
                              bench_.tolerance()),
            Activations::kn, false);
    try_all(ways()[8], gpu::cublas_peers(lab_.cublas, bench_).front(), Activations::kn, true);
    try_all(ways()[9], gpu::cusparse_peer(lab_.cusparse, bench_), Activations::kn, true);
    time_in_turns();
    return outcome_;
  }

 private:
  ProductCase product() const {
    return {.n = static_cast<std::int32_t>(candidate_.bcol), .ldb = candidate_.bcol, .ldc = candidate_.bcol};
  }
  const float* bias() const { return bias_.at<const float>(0); }

  /// B as it is on the device.
  std::vector<double> given_b() const {
    std::vector<float> b(static_cast<std::size_t>(matrix_.columns * candidate_.bcol));
    gpu::check(cudaMemcpy(b.data(), bench_.b(0), b.size() * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return {b.begin(), b.end()};
  }

  DenseLayer dense_layer(const float* b) const {
    return {.a = dense_.at<const float>(0),
            .b = b,
            .bias = bias(),
            .c = static_cast<float*>(bench_.c(0)),
            .m = matrix_.rows,
            .k = matrix_.columns,
            .n = candidate_.bcol};
  }

  /// A kernel of ours, with the epilogue or without.
  struct Ours {
    const std::string& schedule;
    const Kernel& kernel;
    const gpu::Copies& packed;
    Activations activations = Activations::kn;
    bool finishes = true;
  };

  /// The kernel after one that has ended, and in a chain where it can be in one.
  void keep_ours(const std::string& plain, const std::string& chain, const Ours& ours) {
    const auto launch = std::make_shared<const gpu::LayerLaunch>(
        std::make_shared<const gpu::LoadedKernels>(ours.kernel.cubin), ours.kernel.plan);
    gpu::Operands operands{.packed = ours.packed.at<const void>(0),
                           .b = bench_.b(0),
                           .c = bench_.c(0),
                           .rows = matrix_.rows,
                           .n = bench_.columns()};
    if (ours.activations == Activations::nk) {
      operands.b = b_nk_.at<const float>(0);
      operands.rows = candidate_.bcol;
      operands.ldb = matrix_.columns;
      operands.ldc = matrix_.rows;
    }
    if (ours.finishes) {
      operands.epilogue = {static_cast<const void*>(bias())};
    }
    const auto launching = [&](gpu::Edge edge) -> gpu::Launch {
      return [launch, edge, operands](cudaStream_t stream, std::size_t /*copy*/) { (*launch)(operands, edge, stream); };
    };
    for (const auto& [way, edge] : {std::pair{plain, gpu::Edge::plain}, std::pair{chain, gpu::Edge::programmatic}}) {
      if (edge == gpu::Edge::programmatic && !ours.kernel.plan.programmatic) {
        continue;
      }
      if (ours.finishes) {
        keep(way, ours.schedule, launching(edge), ours.activations);
      } else if (const gpu::Judgement judgement = bench_.judge(bench_.result_of(launching(edge)), bench_.tolerance());
                 judgement.right()) {
        chosen_.emplace_back(way, launching(edge));
      } else {
        ++outcome_.wrong;
        fmt::print(stderr, "esc-bench-epilogue: {}, bCol {}, {}: wrong: {}\n", candidate_.matrix, candidate_.bcol, way,
                   judgement.problem);
      }
    }
  }

  bool is_right(const std::string& way, const gpu::Launch& launch, Activations activations) {
    TypedElements c = bench_.result_of(launch);
    if (activations == Activations::nk) {
      const std::vector<float> rows = transposed(std::span<const float>(std::as_const(c).elements<float>(), c.size()),
                                                 candidate_.bcol, matrix_.rows);
      std::ranges::copy(rows, c.elements<float>());
    }
    const Comparison comparison = reference_.compare(c);
    if (!comparison.within(bench_.tolerance())) {
      ++outcome_.wrong;
      fmt::print(stderr, "esc-bench-epilogue: {}, bCol {}, {}: wrong: {} (relative error {:.2e})\n", candidate_.matrix,
                 candidate_.bcol, way, comparison.problem, comparison.error);
      return false;
    }
    return true;
  }

  void keep(const std::string& way, const std::string& algorithm, gpu::Launch launch,
            Activations activations = Activations::kn) {
    if (is_right(way, launch, activations)) {
      chosen_.push_back({way, std::move(launch)});
      outcome_.algorithm[way] = algorithm;
    }
  }

  /// Keeps the fastest algorithm of a peer, with a second launch for bias and ReLU if asked for.
  void try_all(const std::string& way, const gpu::Peer& peer, Activations activations, bool second_launch) {
    std::optional<double> best;
    std::string name;
    gpu::Launch fastest;
    for (std::size_t at = 0; at < std::min(most_algorithms, peer.algorithms.size()); ++at) {
      try {
        const std::shared_ptr<gpu::PeerProduct> made = peer.algorithms[at].make(1);
        const gpu::Launch launch = [this, made, second_launch](cudaStream_t stream, std::size_t copy) {
          made->launch(stream, copy);
          if (second_launch) {
            lab_.bias_relu.launch(static_cast<float*>(bench_.c(0)), bias(), matrix_.rows, candidate_.bcol, stream);
          }
        };
        gpu::GraphTimer timer(lab_.stream);
        const double time = timer.measure(launch, quick).microseconds;
        if (!best || time < *best) {
          best = time;
          name = peer.algorithms[at].name;
          fastest = launch;
        }
      } catch (const gpu::DeviceError&) {
        if (!gpu::still_works()) {
          throw;
        }
      }
    }
    if (best) {
      keep(way, name, fastest, activations);
    } else {
      outcome_.algorithm[way] = peer.problem;
    }
  }

  /// Replays the graphs of all ways one after the other, so that what changes on the device meanwhile changes all of
  /// them.
  void time_in_turns() {
    std::list<gpu::GraphTimer> timers;
    for (const auto& [way, launch] : chosen_) {
      timers.emplace_back(lab_.stream).start(launch, quick);
      timers.back().finish();
    }
    std::vector<std::vector<double>> samples(chosen_.size());
    for (int turn = 0; turn < turns; ++turn) {
      std::size_t at = 0;
      for (gpu::GraphTimer& timer : timers) {
        timer.start_more(1);
        samples[at++].push_back(timer.finish().samples.back());
      }
    }
    for (std::size_t at = 0; at < chosen_.size(); ++at) {
      outcome_.microseconds[chosen_[at].first] = median(samples[at]);
    }
  }

  const Candidate& candidate_;
  LoopNest nest_ = layer_nest(Activations::kn);
  SparseMatrix matrix_;
  const EpilogueLab& lab_;
  gpu::ProductBench bench_;
  Reference reference_;
  gpu::Copies b_nk_;
  gpu::Copies bias_;
  gpu::Copies dense_;
  std::vector<gpu::Copies> packed_;
  std::vector<std::pair<std::string, gpu::Launch>> chosen_;
  Outcome outcome_;
};

}  // namespace

const std::vector<std::string>& ways() {
  static const std::vector<std::string> names{
      "ours, plain",       "ours, chain",     "product alone, plain", "product alone, chain", "ours in nk, plain",
      "ours in nk, chain", "cublas-fused-nk", "cublas-fused-kn",      "cublas-kn + launch",   "cusparse + launch"};
  return names;
}

Outcome measure(const Candidate& candidate, const EpilogueLab& lab) {
  gpu::wake(lab.stream);
  return LayerBench(candidate, lab).measure();
}

}  // namespace esc::bench
