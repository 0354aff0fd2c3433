// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/esc_bench_result.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace esc::bench {
namespace {

using nlohmann::json;

constexpr const char* kind = "pair";
constexpr const char* further_peers = "peers";

/// A peer that has a key of its own in a line, and what the line need not say of it.
struct KnownPeer {
  const char* name;
  const char* title;
  bool exact;
};
constexpr std::array known_peers{KnownPeer{"cublas-fp32", "FP32", true}, KnownPeer{tf32_peer, "TF32", false},
                                 KnownPeer{"cusparse", "cuSPARSE", true}};

const KnownPeer* known_peer(const std::string& name) {
  const auto* const found = std::ranges::find(known_peers, name, &KnownPeer::name);
  return found == known_peers.end() ? nullptr : found;
}

/// The least of what `time` gives for the peers that `counts` takes.
template <typename Counts, typename Time>
std::optional<double> least(const PairResult& pair, const Counts& counts, const Time& time) {
  std::optional<double> result;
  for (const auto& [name, peer] : pair.peers) {
    const std::optional<double> found = counts(peer) ? time(peer.best) : std::nullopt;
    if (found && (!result || *found < *result)) {
      result = found;
    }
  }
  return result;
}

std::optional<double> warm(const BestTime& time) { return time.microseconds; }
std::optional<double> cold(const BestTime& time) { return time.cold; }
bool is_exact(const PeerTime& peer) { return peer.exact; }

json optional_number(const std::optional<double>& number) { return number ? json(*number) : json(); }

std::optional<double> optional_number(const json& number) {
  return number.is_number() ? std::optional(number.get<double>()) : std::nullopt;
}

json to_json(const BestTime& time) {
  return {{"name", time.name},
          {"us", time.microseconds},
          {"spread", time.spread},
          {"error", time.error},
          {"cold_us", optional_number(time.cold)},
          {"floor_us", optional_number(time.floor)}};
}

json to_json(const std::optional<BestTime>& time) { return time ? to_json(*time) : json(); }

BestTime time_in(const json& time) {
  return {.name = time.at("name"),
          .microseconds = time.at("us"),
          .spread = time.at("spread"),
          .error = time.at("error"),
          .cold = optional_number(time.at("cold_us")),
          .floor = optional_number(time.at("floor_us"))};
}

std::optional<BestTime> best_time(const json& time) {
  return time.is_null() ? std::nullopt : std::optional(time_in(time));
}

void write_peers(const std::map<std::string, PeerTime>& peers, json& line) {
  for (const KnownPeer& known : known_peers) {
    line[known.name] = json();
  }
  for (const auto& [name, peer] : peers) {
    if (known_peer(name) != nullptr) {
      line[name] = to_json(peer.best);
    } else {
      line[further_peers][name] = to_json(peer.best);
      line[further_peers][name]["exact"] = peer.exact;
    }
  }
}

std::map<std::string, PeerTime> read_peers(const json& line) {
  std::map<std::string, PeerTime> peers;
  for (const KnownPeer& known : known_peers) {
    if (const std::optional<BestTime> best = best_time(line.at(known.name))) {
      peers[known.name] = {known.exact, *best};
    }
  }
  const json further = line.value(further_peers, json::object());
  for (const auto& [name, peer] : further.items()) {
    peers[name] = {peer.at("exact"), time_in(peer)};
  }
  return peers;
}

}  // namespace

std::optional<double> time_of(const PairResult& pair, const std::string& peer) {
  const auto found = pair.peers.find(peer);
  return found == pair.peers.end() ? std::nullopt : warm(found->second.best);
}

std::optional<double> cold_time_of(const PairResult& pair, const std::string& peer) {
  const auto found = pair.peers.find(peer);
  return found == pair.peers.end() ? std::nullopt : cold(found->second.best);
}

std::optional<double> best_exact(const PairResult& pair) { return least(pair, is_exact, warm); }

std::optional<double> best_exact_cold(const PairResult& pair) { return least(pair, is_exact, cold); }

std::optional<double> best_of_all(const PairResult& pair) {
  return least(pair, [](const PeerTime&) { return true; }, warm);
}

std::string title_of(const std::string& peer) {
  const KnownPeer* const known = known_peer(peer);
  return known == nullptr ? peer : known->title;
}

std::string pair_line(const PairResult& pair) {
  json line{{"record", kind},          {"matrix", pair.matrix},        {"rows", pair.rows},
            {"columns", pair.columns}, {"nonzeros", pair.nonzeros},    {"bcol", pair.bcol},
            {"right", pair.right},     {"illegal", pair.illegal},      {"wrong", pair.wrong},
            {"failed", pair.failed},   {"plain", to_json(pair.plain)}, {"programmatic", to_json(pair.programmatic)}};
  write_peers(pair.peers, line);
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<PairResult> parse_pair(const std::string& line) {
  const json found = json::parse(line, nullptr, false);
  if (!found.is_object() || found.value("record", "") != kind) {
    return std::nullopt;
  }
  return PairResult{.matrix = found.at("matrix"),
                    .rows = found.at("rows"),
                    .columns = found.at("columns"),
                    .nonzeros = found.at("nonzeros"),
                    .bcol = found.at("bcol"),
                    .right = found.at("right"),
                    .illegal = found.at("illegal"),
                    .wrong = found.at("wrong"),
                    .failed = found.at("failed"),
                    .plain = best_time(found.at("plain")),
                    .programmatic = best_time(found.at("programmatic")),
                    .peers = read_peers(found)};
}

}  // namespace esc::bench
