#include "tests/bench/report_publish.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "generator/schedule/schedule_database.h"

namespace esc::bench {
namespace {

LayerShape shape_of(const PairResult& pair) { return {pair.bcol, pair.rows, pair.columns, pair.nonzeros}; }

/// Logarithms of a schedule's time over the best of its pair: plain launches, and the mean of both kinds.
struct Loss {
  double plain = 0;
  double both = 0;
};

/// The losses of all schedules of a pair that were right. Programmatic launches count where every panel schedule has them.
std::map<std::string, Loss> losses(const MeasuredPair& pair) {
  std::optional<double> best_plain;
  std::optional<double> best_programmatic;
  for (const auto& [schedule, time] : pair.candidates) {
    if (time.plain && (!best_plain || *time.plain < *best_plain)) {
      best_plain = time.plain;
    }
    if (time.programmatic && (!best_programmatic || *time.programmatic < *best_programmatic)) {
      best_programmatic = time.programmatic;
    }
  }
  std::map<std::string, Loss> result;
  for (const auto& [schedule, time] : pair.candidates) {
    if (time.plain) {
      const double plain = std::log(*time.plain / *best_plain);
      const double chained =
          best_programmatic ? std::log(time.programmatic.value_or(*time.plain) / *best_programmatic) : plain;
      result[schedule] = {plain, 0.5 * (plain + chained)};
    }
  }
  return result;
}

struct BestOfClass {
  std::string schedule;
  int matrices = 0;
  double loss = 0;  ///< mean of the logarithms
};

/// The best schedule for all the pairs of one class, of those that were right on every one.
std::optional<BestOfClass> best_of(const std::vector<const MeasuredPair*>& pairs) {
  std::map<std::string, std::pair<int, double>> sums;
  for (const MeasuredPair* pair : pairs) {
    for (const auto& [schedule, loss] : losses(*pair)) {
      auto& [count, sum] = sums[schedule];
      ++count;
      sum += loss.both;
    }
  }
  std::optional<BestOfClass> best;
  for (const auto& [schedule, sum] : sums) {
    const double mean = sum.second / sum.first;
    if (sum.first == static_cast<int>(pairs.size()) && (!best || mean < best->loss)) {
      best = BestOfClass{schedule, sum.first, mean};
    }
  }
  return best;
}

std::string database_text(const std::map<LayerClass, std::vector<const MeasuredPair*>>& classes,
                          const std::string& device) {
  std::string text = fmt::format(
      "# {}\n"
      "# The best schedule for each class of layers, written by esc-report. bcol, rows, columns and sparsity are logarithms\n"
      "# to base 2, rounded, of the columns of B, the sizes of A and the reciprocal of its density; loss is the geometric mean of\n"
      "# the schedule's time over the best one of each of the matrices measured.\n"
      "# bcol rows columns sparsity schedule matrices loss\n",
      device);
  for (const auto& [layers, pairs] : classes) {
    if (const auto best = best_of(pairs)) {
      text += fmt::format("{} {} {} {} {} {} {:.3f}\n", layers.bcol, layers.rows, layers.columns, layers.sparsity,
                          best->schedule, best->matrices, std::exp(best->loss));
    }
  }
  return text;
}

using Classes = std::map<LayerClass, std::vector<const MeasuredPair*>>;

Classes classes_of(const std::map<PairKey, MeasuredPair>& pairs, const std::string& left_out = {}) {
  Classes classes;
  for (const auto& [key, pair] : pairs) {
    if (key.matrix != left_out) {
      classes[class_of(shape_of(pair.result))].push_back(&pair);
    }
  }
  return classes;
}

}  // namespace

std::string publish(const std::map<PairKey, MeasuredPair>& pairs, const std::string& device) {
  return database_text(classes_of(pairs), device);
}

std::map<std::int64_t, double> leave_one_out_loss(const std::map<PairKey, MeasuredPair>& pairs) {
  std::set<std::string> matrices;
  for (const auto& [key, pair] : pairs) {
    matrices.insert(key.matrix);
  }
  std::map<std::int64_t, std::pair<int, double>> sums;
  for (const std::string& matrix : matrices) {
    const auto database = ScheduleDatabase::parse(database_text(classes_of(pairs, matrix), "all but one"), "leave one out");
    for (const auto& [key, pair] : pairs) {
      const auto match = database.nearest(shape_of(pair.result));
      if (key.matrix != matrix || !match) {
        continue;
      }
      const std::map<std::string, Loss> found = losses(pair);
      const auto loss = found.find(print(match->entry.schedule));
      if (loss != found.end()) {
        auto& [count, sum] = sums[key.bcol];
        ++count;
        sum += loss->second.plain;
      }
    }
  }
  std::map<std::int64_t, double> result;
  for (const auto& [bcol, sum] : sums) {
    result[bcol] = std::exp(sum.second / sum.first);
  }
  return result;
}

}  // namespace esc::bench
