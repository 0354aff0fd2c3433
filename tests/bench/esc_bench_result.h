// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace esc::bench {

/// The best of several ways to compute one product. Times are microseconds of one launch.
struct BestTime {
  std::string name;                  ///< the schedule, or the library's algorithm
  double microseconds = 0;           ///< warm
  double spread = 0;                 ///< of the replays, relative
  double error = 0;                  ///< relative Frobenius error of the result
  std::optional<double> cold = {};   ///< microseconds with nothing in L2
  std::optional<double> floor = {};  ///< microseconds of a kernel that only moves the same bytes; of ours alone
  bool operator==(const BestTime&) const = default;
};

/// What a library takes for the product.
struct PeerTime {
  bool exact = false;  ///< whether its factors are as the elements are, and its sums of float32
  BestTime best = {};
  bool operator==(const PeerTime&) const = default;
};

/// What was measured for one matrix and one bCol. What was not measured, or where nothing was right, is absent.
struct PairResult {
  std::string matrix;  ///< its file, as the user gave it
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t nonzeros = 0;
  std::int64_t bcol = 0;
  std::size_t right = 0;                       ///< schedules that passed the check
  std::size_t illegal = 0;                     ///< schedules that are not legal for this bCol or matrix
  std::size_t wrong = 0;                       ///< schedules with a wrong result
  std::size_t failed = 0;                      ///< schedules that did not compile or run
  std::optional<BestTime> plain = {};          ///< ours, each launch after the end of the one before
  std::optional<BestTime> programmatic = {};   ///< ours, in a chain of programmatic dependent launches
  std::map<std::string, PeerTime> peers = {};  ///< by their names

  double sparsity() const {
    return 1.0 - static_cast<double>(nonzeros) / (static_cast<double>(rows) * static_cast<double>(columns));
  }
  bool operator==(const PairResult&) const = default;
};

/// The name of cuBLASLt's peer that rounds factors to TF32, with which ours is compared by itself.
inline constexpr const char* tf32_peer = "cublas-tf32";

/// The time of one peer, and that with nothing in L2.
std::optional<double> time_of(const PairResult& pair, const std::string& peer);
std::optional<double> cold_time_of(const PairResult& pair, const std::string& peer);

/// The time of the fastest exact peer, and that with nothing in L2; absent when there is none.
std::optional<double> best_exact(const PairResult& pair);
std::optional<double> best_exact_cold(const PairResult& pair);

/// The time of the fastest peer of all.
std::optional<double> best_of_all(const PairResult& pair);

/// A peer as tables head its columns: "FP32", "TF32" and "cuSPARSE" for those of NVIDIA's that are always there, else
/// its name.
std::string title_of(const std::string& peer);

/// The result as one line of JSON, without its end, and back. cuBLASLt and cuSPARSE in float32 have keys of their own,
/// which are there always; other peers are together under a further one, each with whether it is exact. `parse_pair`
/// gives nothing for a line of another kind.
std::string pair_line(const PairResult& pair);
std::optional<PairResult> parse_pair(const std::string& line);

}  // namespace esc::bench
