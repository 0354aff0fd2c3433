// SPDX-License-Identifier: Apache-2.0
// What `auto` takes, judged by what was measured: the journals of tests/bench/journals have the times of many schedules
// of each of their products, and what is chosen may lose so much over the best of them.
//
// Prints for each type of product how many of the journals' products are judged, and what the choice loses on them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ranges>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "generator/schedule/scheduler.h"
#include "generator/support/means.h"
#include "tests/bench/esc_bench_result.h"
#include "tuner/publish/loss_table.h"
#include "tuner/records/record_text.h"

namespace esc::tuning {
namespace {

constexpr std::string_view folder = ESC_SOURCE_DIR "/tests/bench/journals";

/// The text of a journal; nothing where this machine cannot unpack it.
std::optional<std::string> text_of(const std::string& journal) {
  std::FILE* const unpacking = popen(fmt::format("xz -dc '{}/{}.jsonl.xz'", folder, journal).c_str(), "r");
  std::string text;
  std::array<char, 1 << 16> part{};
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), unpacking)) {
    text.append(part.data(), count);
  }
  return pclose(unpacking) == 0 ? std::optional(std::move(text)) : std::nullopt;
}

/// What `esc-bench` has measured of schedules, as `esctune` would have recorded it. Its journals know a matrix by its
/// file, and not how long its rows are, which are alike.
std::vector<Record> records_of_bench(const std::string& text, const std::string& journal, const std::string& dtype) {
  const DeviceKey device = parse_device_key(journal.substr(0, journal.find('_')));
  std::map<std::string, bench::PairResult> matrices;
  std::vector<nlohmann::json> candidates;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (const std::optional<bench::PairResult> pair = bench::parse_pair(line)) {
      matrices[pair->matrix] = *pair;
    } else if (nlohmann::json record = nlohmann::json::parse(line); record.at("record") == "candidate") {
      candidates.push_back(std::move(record));
    }
  }
  std::vector<Record> records;
  for (const nlohmann::json& candidate : candidates) {
    const auto matrix = matrices.find(candidate.at("matrix"));
    if (matrix == matrices.end() || !candidate.at("plain_us").is_number()) {
      continue;
    }
    CandidateRecord record;
    record.item.layer = {.file = matrix->first,
                         .pattern = matrix->first,
                         .rows = matrix->second.rows,
                         .columns = matrix->second.columns,
                         .nonzeros = matrix->second.nonzeros};
    record.item.bcol = candidate.at("bcol");
    record.item.dtype = dtype;
    record.item.device = device;
    record.candidate = candidate.at("schedule");
    record.samples = {candidate.at("plain_us")};
    records.emplace_back(std::move(record));
  }
  return records;
}

/// Products of a kind, the journals that have some, and what the choice may lose on them.
struct MeasuredKind {
  std::string name;
  std::string dtype;
  bool (*has)(std::string_view layout);
  std::vector<std::string> journals;
  std::size_t judged;  ///< products at least, of which what is chosen was measured
  double mean;         ///< time over that of the best one, at most: the geometric mean over these
  double worst;        ///< and the largest
};

void PrintTo(const MeasuredKind& kind, std::ostream* stream) { *stream << kind.name; }

/// Below so many schedules there was nothing to choose between.
constexpr std::ptrdiff_t fewest_measured = 4;

/// What the first choice for a product takes over the best schedule that was measured of it.
struct Judged {
  double ratio;
  std::string what;
};

class MeasuredChoice : public testing::TestWithParam<MeasuredKind> {
 protected:
  void SetUp() override {
    for (const std::string& journal : GetParam().journals) {
      const std::optional<std::string> text = text_of(journal);
      if (!text) {
        GTEST_SKIP() << "xz is not installed, which unpacks the journals";
      }
      const bool of_bench = text->starts_with("{\"architecture\"");
      judge(of_bench ? records_of_bench(*text, journal, GetParam().dtype) : parse_journal(*text, journal).records,
            journal);
    }
  }

  std::vector<Judged> judged_;
  int others_ = 0;  ///< products of which what is chosen was not measured

 private:
  void judge(const std::vector<Record>& records, const std::string& journal) {
    for (const MeasuredDevice& device : measured_devices(records)) {
      if (device.head.dtype == GetParam().dtype && GetParam().has(device.head.layout)) {
        for (const LossTable& table : std::views::values(device.tables)) {
          for (const auto& item : table.items) {
            judge(*item, table, device.head.key, journal);
          }
        }
      }
    }
  }

  void judge(const ItemLosses& item, const LossTable& table, const DeviceKey& device, const std::string& journal) {
    if (std::ranges::count_if(item.losses, [](const ScheduleLoss& one) { return one.loss.has_value(); }) <
        fewest_measured) {
      return;
    }
    const std::string chosen = print(choose_schedule(item.shape, device).schedule);
    const std::optional<std::size_t> place = table.place_of(chosen);
    if (!place || !item.losses[*place].loss) {
      ++others_;
      return;
    }
    judged_.push_back(
        {std::exp(*item.losses[*place].loss),
         fmt::format("{} x {} with {} non-zeros, {} columns, {}: {} instead of {}", item.shape.rows, item.shape.columns,
                     item.shape.nonzeros, item.shape.bcol, journal, chosen, item.best)});
  }
};

TEST_P(MeasuredChoice, LosesLittleOverTheBestThatWasMeasured) {
  const MeasuredKind& kind = GetParam();
  ASSERT_GE(judged_.size(), kind.judged) << others_ << " others have no measurement of what is chosen";
  std::vector<double> ratios;
  for (const Judged& one : judged_) {
    ratios.push_back(one.ratio);
    EXPECT_LE(one.ratio, kind.worst) << one.what;
  }
  const Judged& worst = *std::ranges::max_element(judged_, {}, &Judged::ratio);
  std::cout << fmt::format("{}: {} products judged, {} without a measurement; mean {:.3f}, worst {:.3f}, of {}\n",
                           kind.name, judged_.size(), others_, *geometric_mean(ratios), worst.ratio, worst.what);
  EXPECT_LE(*geometric_mean(ratios), kind.mean);
}

bool is_kn(std::string_view layout) { return layout == "kn"; }
bool is_nk(std::string_view layout) { return layout == "nk"; }
bool is_of_points(std::string_view layout) {
  return layout.starts_with("n_k_n_n.") || layout.starts_with("n_k_2n_2n.");
}
bool is_of_taps(std::string_view layout) { return layout.starts_with("n_k_nk_nk."); }

/// The limits are what choices lose now, rounded up (docs/journal/2026-11-28-database.md): a change that makes them
/// worse has to say so.
INSTANTIATE_TEST_SUITE_P(
    Journals, MeasuredChoice,
    testing::Values(
        MeasuredKind{
            "HalvesOnH200", "f16", is_kn, {"sm90-132sm-60mib_f16", "sm90-132sm-60mib_f16_wide"}, 132, 1.085, 1.85},
        MeasuredKind{"FloatsOnH200",
                     "f32",
                     is_kn,
                     {"sm90-132sm-60mib_f32", "sm90-132sm-60mib_f32_ahead", "sm90-132sm-60mib_f32_gather",
                      "sm90-132sm-60mib_f32_large", "sm90-132sm-60mib_f32_sparse"},
                     643,
                     1.01,
                     1.15},
        MeasuredKind{"FloatsOnH100",
                     "f32",
                     is_kn,
                     {"sm90-132sm-50mib_f32_ahead", "sm90-132sm-50mib_f32_gather", "sm90-132sm-50mib_f32_small"},
                     226,
                     1.01,
                     1.26},
        MeasuredKind{"RoundedFloatsOnH200",
                     "tf32",
                     is_kn,
                     {"sm90-132sm-60mib_tf32", "sm90-132sm-60mib_tf32_ahead", "sm90-132sm-60mib_tf32_gather",
                      "sm90-132sm-60mib_tf32_small", "sm90-132sm-60mib_tf32_sparse"},
                     172,
                     1.01,
                     1.26},
        MeasuredKind{"RoundedFloatsOnH100",
                     "tf32",
                     is_kn,
                     {"sm90-132sm-50mib_tf32_ahead", "sm90-132sm-50mib_tf32_small"},
                     118,
                     1.02,
                     1.35},
        MeasuredKind{"TokensOnH200", "f32", is_nk, {"sm90-132sm-60mib_f32_tokens"}, 163, 1.08, 2.02},
        MeasuredKind{"FiltersOfOnePixelOnH200",
                     "f32",
                     is_of_points,
                     {"sm90-132sm-60mib_f32_images", "sm90-132sm-60mib_f32_points"},
                     117,
                     1.03,
                     1.8},
        MeasuredKind{"FiltersOfTapsOnH200",
                     "f32",
                     is_of_taps,
                     {"sm90-132sm-60mib_f32_images", "sm90-132sm-60mib_f32_taps"},
                     67,
                     1.05,
                     1.31}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace esc::tuning
