// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/esc_bench_measure.h"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <span>

#include "generator/ir/linear_nk_nest.h"
#include "tests/bench/plugin_peer.h"

namespace esc::bench {
namespace {

using nlohmann::json;

/// For choosing among many, and for the times that are reported.
constexpr gpu::TimingOptions quick{.launches = 20, .warmups = 1, .replays = 7};
constexpr gpu::TimingOptions thorough{.launches = 20, .warmups = 2, .replays = 21};

std::string text_of(const json& line) { return line.dump(-1, ' ', false, json::error_handler_t::replace); }

std::span<const std::byte> packed_of(const Candidate& candidate) {
  return {candidate.packed.get(), candidate.packed_bytes};
}

}  // namespace

/// The record of a candidate.
struct PairMeasurement::Row {
  std::string schedule;
  std::string status = "right";
  std::string detail = {};
  double error = 0;
  std::optional<gpu::Timing> plain = {};
  std::optional<gpu::Timing> programmatic = {};
};

Lab::Lab(const gpu::DeviceFacts& device, const Options& options, Plugins further, Journal& journal_of_run)
    : facts(device), choice(options), plugins(std::move(further)), journal(journal_of_run), timer(stream) {
  if (choice.floor) {
    floor.emplace(facts.architecture);
  }
}

std::set<std::string> Lab::peer_names() const {
  std::vector<std::string> names = choice.peers ? libraries.names(choice.element) : std::vector<std::string>();
  for (const std::shared_ptr<const PeerPlugin>& plugin : plugins) {
    names.push_back(plugin->name());
  }
  return {names.begin(), names.end()};
}

std::shared_ptr<const gpu::LoadedKernels> Lab::kernels(const std::shared_ptr<const tuning::Cubin>& cubin) {
  Loaded& loaded = loaded_[cubin.get()];
  if (loaded.kernels == nullptr) {
    loaded = {cubin, std::make_shared<const gpu::LoadedKernels>(*cubin)};
  }
  return loaded.kernels;
}

PairMeasurement::PairMeasurement(Lab& lab, const PairPlan& plan, std::shared_ptr<const SparseMatrix> matrix)
    : lab_(lab),
      plan_(plan),
      matrix_(std::move(matrix)),
      bench_(*matrix_, plan.bcol, lab.stream, lab.cold_bytes(), spmm_nest(matrix_->element)),
      result_{.matrix = plan.matrix,
              .rows = matrix_->rows,
              .columns = matrix_->columns,
              .nonzeros = matrix_->nonzeros(),
              .bcol = plan.bcol} {
  gpu::wake(lab_.stream);
}

void PairMeasurement::measure_peers() {
  if (lab_.choice.peers) {
    for (const gpu::Peer& peer : lab_.libraries.peers_for(bench_)) {
      measure_peer(peer, bench_);
    }
  }
  std::optional<gpu::ProductBench> transposed;
  for (const std::shared_ptr<const PeerPlugin>& plugin : lab_.plugins) {
    if (wants_transposed(*plugin) && !transposed) {
      transposed.emplace(*matrix_, plan_.bcol, lab_.stream, lab_.cold_bytes(), linear_nk_nest(matrix_->element));
    }
    const gpu::ProductBench& bench = wants_transposed(*plugin) ? *transposed : bench_;
    measure_peer(plugin_peer(plugin, bench), bench);
  }
}

void PairMeasurement::measure_peer(const gpu::Peer& peer, const gpu::ProductBench& bench) {
  const gpu::PeerResult measured =
      gpu::measure_peer(peer, bench, lab_.timer, {.attempt = quick, .best = thorough, .cold = lab_.choice.cold});
  write_peer(measured);
  if (measured.best) {
    BestTime best{.name = measured.best->algorithm,
                  .microseconds = measured.best->timing.microseconds,
                  .spread = measured.best->timing.spread,
                  .error = measured.best->error};
    if (measured.best_cold) {
      best.cold = measured.best_cold->microseconds;
    }
    result_.peers[peer.name] = {peer.exact, best};
  } else if (!lab_.choice.quiet) {
    fmt::print(stderr, "esc-bench: {}, bCol {}: {} has no right result: {}\n", plan_.matrix, plan_.bcol, peer.name,
               measured.attempts.front().problem);
  }
}

void PairMeasurement::write_peer(const gpu::PeerResult& result) {
  for (const gpu::PeerAttempt& attempt : result.attempts) {
    const bool right = attempt.problem.empty();
    lab_.journal.write(text_of({{"record", "peer"},
                                {"matrix", plan_.matrix},
                                {"bcol", plan_.bcol},
                                {"peer", result.peer},
                                {"algorithm", attempt.algorithm},
                                {"status", right ? "right" : "failed"},
                                {"detail", attempt.problem},
                                {"error", attempt.error},
                                {"us", right ? json(attempt.timing.microseconds) : json()},
                                {"spread", right ? json(attempt.timing.spread) : json()}}));
  }
}

void PairMeasurement::write(const Row& row) {
  json line{{"record", "candidate"},     {"matrix", plan_.matrix},       {"bcol", plan_.bcol},
            {"schedule", row.schedule},  {"status", row.status},         {"detail", row.detail},
            {"error", row.error},        {"plain_us", json()},           {"plain_spread", json()},
            {"programmatic_us", json()}, {"programmatic_spread", json()}};
  if (row.plain) {
    line["plain_us"] = row.plain->microseconds;
    line["plain_spread"] = row.plain->spread;
  }
  if (row.programmatic) {
    line["programmatic_us"] = row.programmatic->microseconds;
    line["programmatic_spread"] = row.programmatic->spread;
  }
  lab_.journal.write(text_of(line));
}

bool PairMeasurement::measure(const std::shared_ptr<const Candidate>& candidate) {
  if (!candidate->illegal.empty()) {
    ++result_.illegal;
    return true;
  }
  Row row{.schedule = candidate->schedule};
  try {
    run(*candidate, row);
  } catch (const gpu::DeviceError& error) {
    row.status = "failed";
    row.detail = error.what();
    if (!gpu::still_works()) {
      write(row);
      throw gpu::DeviceError(fmt::format("{}, bCol {}, {}", plan_.matrix, plan_.bcol, row.schedule), error.what());
    }
  }
  write(row);
  if (row.status != "right") {
    ++(row.status == "failed" ? result_.failed : result_.wrong);
    fmt::print(stderr, "esc-bench: {}, bCol {}, {}: {}: {}\n", plan_.matrix, plan_.bcol, row.schedule, row.status,
               row.detail);
    return false;
  }
  ++result_.right;
  const auto lead = [&](std::optional<Leader>& leader, const std::optional<gpu::Timing>& timing) {
    if (timing && (!leader || timing->microseconds < leader->microseconds)) {
      leader = {candidate, timing->microseconds, row.error};
    }
  };
  lead(plain_, row.plain);
  lead(programmatic_, row.programmatic);
  return true;
}

void PairMeasurement::run(const Candidate& candidate, Row& row) {
  if (!candidate.problem.empty()) {
    row.status = "failed";
    row.detail = candidate.problem;
    return;
  }
  const gpu::LayerLaunch launch(lab_.kernels(candidate.cubin), candidate.plan);
  upload(candidate);
  const bool chained = candidate.plan.programmatic && lab_.choice.edges != EdgesTimed::plain;
  const bool alone = lab_.choice.edges != EdgesTimed::programmatic || !candidate.plan.programmatic;
  const double tolerance = bench_.tolerance();
  const auto wrong = [&](const gpu::Judgement& judgement, const std::string& how) {
    row.status = "wrong-result";
    row.detail = how + judgement.problem;
    row.plain.reset();
  };

  // The device times the launches while the host compares the result.
  const gpu::Launch plain = launching(launch, packed_, gpu::Edge::plain);
  const TypedElements result = bench_.result_of(plain);
  if (alone) {
    lab_.timer.start(plain, quick);
  }
  const gpu::Judgement judgement = bench_.judge(result, tolerance);
  row.error = judgement.error;
  if (alone) {
    row.plain = lab_.timer.finish();
  }
  if (!judgement.right()) {
    wrong(judgement, "");
    return;
  }
  if (!chained) {
    return;
  }

  // Two launches that may overlap must leave the same C; which needs a comparison only where its bits differ.
  const gpu::Launch programmatic = launching(launch, packed_, gpu::Edge::programmatic);
  const TypedElements overlapped = bench_.result_of([&](cudaStream_t stream, std::size_t copy) {
    programmatic(stream, copy);
    programmatic(stream, copy);
  });
  if (!(result == overlapped)) {
    const gpu::Judgement again = bench_.judge(overlapped, tolerance);
    if (!again.right()) {
      wrong(again, "launched programmatically: ");
      return;
    }
  }
  row.programmatic = lab_.timer.measure(programmatic, quick);
}

void PairMeasurement::upload(const Candidate& candidate) {
  const std::span<const std::byte> bytes = packed_of(candidate);
  if (packed_.stride() < bytes.size()) {
    packed_ = gpu::Copies(bytes, 1);
  } else {
    packed_.assign(bytes);
  }
}

gpu::Operands PairMeasurement::operands(const gpu::Copies& packed, std::size_t copy) const {
  return {.packed = packed.at<void>(copy),
          .b = bench_.b(copy),
          .c = bench_.c(copy),
          .element_bytes = static_cast<std::size_t>(bytes_of(bench_.element())),
          .rows = matrix_->rows,
          .n = bench_.columns()};
}

gpu::Launch PairMeasurement::launching(const gpu::LayerLaunch& launch, const gpu::Copies& packed,
                                       gpu::Edge edge) const {
  return [this, &launch, &packed, edge](cudaStream_t stream, std::size_t copy) {
    launch(operands(packed, copy), edge, stream);
  };
}

std::optional<double> PairMeasurement::further(const std::string& what,
                                               const std::function<gpu::Timing()>& measurement) const {
  try {
    return measurement().microseconds;
  } catch (const gpu::DeviceError& error) {
    if (!gpu::still_works()) {
      throw;
    }
    fmt::print(stderr, "esc-bench: {}, bCol {}: no {} time: {}\n", plan_.matrix, plan_.bcol, what, error.what());
    return std::nullopt;
  }
}

std::optional<BestTime> PairMeasurement::measure_leader(const std::optional<Leader>& leader, gpu::Edge edge) {
  if (!leader) {
    return std::nullopt;
  }
  const Candidate& candidate = *leader->candidate;
  const gpu::LayerLaunch launch(lab_.kernels(candidate.cubin), candidate.plan);
  upload(candidate);
  // The least of many times is too low by chance; a second measurement is not.
  const gpu::Timing timing = lab_.timer.measure(launching(launch, packed_, edge), thorough);
  BestTime best{
      .name = candidate.schedule, .microseconds = timing.microseconds, .spread = timing.spread, .error = leader->error};
  if (lab_.choice.cold) {
    best.cold = further("cold", [&] {
      const std::size_t copies = bench_.cold_copies(candidate.packed_bytes);
      const gpu::Copies packed(packed_of(candidate), copies);
      return lab_.timer.measure(launching(launch, packed, edge), thorough, copies);
    });
  }
  if (lab_.floor && candidate.tile) {
    best.floor = further(
        "floor", [&] { return lab_.floor->measure(bench_, lab_.timer, candidate.plan, *candidate.tile, thorough); });
  }
  return best;
}

PairResult PairMeasurement::finish() {
  result_.plain = measure_leader(plain_, gpu::Edge::plain);
  result_.programmatic = measure_leader(programmatic_, gpu::Edge::programmatic);
  lab_.journal.write(pair_line(result_));
  return result_;
}

}  // namespace esc::bench
