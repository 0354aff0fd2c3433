// SPDX-License-Identifier: Apache-2.0
// What `auto` takes, judged by what was measured: the journals of tests/bench/journals have the times of many schedules
// of each of their products, and what is chosen may lose so much over the best of them. `esctune regret` prints it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "generator/support/error.h"
#include "generator/support/file.h"
#include "tuner/regret/device_measurements.h"
#include "tuner/regret/regret_groups.h"

namespace esc::tuning {
namespace {

/// Below so many schedules there was nothing to choose between.
constexpr std::size_t fewest_measured = 4;

const std::vector<MeasuredItem>& items_of_journals() {
  static const std::vector<MeasuredItem> items =
      measured_items(read_journals({ESC_SOURCE_DIR "/tests/bench/journals"})).items;
  return items;
}

/// What predictions are corrected by is what the journals have.
TEST(Corrections, AreThoseOfTheJournals) {
  try {
    for (const DeviceMeasurements& device : device_measurements(items_of_journals())) {
      EXPECT_EQ(print(device), read_file(ESC_SOURCE_DIR "/generator/schedule/" + file_name(device.key)))
          << "esctune publish --corrections tests/bench/journals -o generator/schedule";
    }
  } catch (const UserError& problem) {
    if (problem.status() == ExitStatus::missing_tool) {
      GTEST_SKIP() << "xz is not installed, which unpacks the journals";
    }
    throw;
  }
}

/// Products of a kind, and what the choice may lose on them.
struct MeasuredKind {
  std::string name;
  std::string dtype;
  bool (*has)(std::string_view layout);
  std::string device;
  int judged;    ///< products at least, of which what is chosen was measured
  double mean;   ///< time over that of the best one, at most: the geometric mean over these
  double worst;  ///< and the largest

  bool fits(const MeasuredItem& item) const {
    return item.shape.dtype == dtype && has(item.shape.layout) && print(item.work.device) == device;
  }
};

void PrintTo(const MeasuredKind& kind, std::ostream* stream) { *stream << kind.name; }

class MeasuredChoice : public testing::TestWithParam<MeasuredKind> {};

TEST_P(MeasuredChoice, LosesLittleOverTheBestThatWasMeasured) {
  const MeasuredKind& kind = GetParam();
  std::vector<MeasuredItem> items;
  try {
    std::ranges::copy_if(items_of_journals(), std::back_inserter(items), [&](const MeasuredItem& item) {
      return kind.fits(item) && item.schedules.size() >= fewest_measured;
    });
  } catch (const UserError& problem) {
    if (problem.status() == ExitStatus::missing_tool) {
      GTEST_SKIP() << "xz is not installed, which unpacks the journals";
    }
    throw;
  }
  // What would be taken where the choice were not there says nothing of what people get.
  std::vector<Judgement> judgements = judge(items, *auto_chooser());
  const std::size_t others =
      std::erase_if(judgements, [](const Judgement& one) { return !one.chosen.is_measured(*one.item); });
  const std::vector<RegretGroup> groups = group(judgements, {Dimension::device});
  ASSERT_EQ(groups.size(), 1U);
  const RegretGroup& found = groups[0];
  ASSERT_GE(found.judged, kind.judged) << others << " others have no measurement of what is chosen";
  std::cout << fmt::format("{}: {} products judged, {} without a measurement; mean {:.3f}, worst {:.3f}, of {}\n",
                           kind.name, found.judged, others, *found.mean, *found.worst, found.worst_item);
  EXPECT_LE(*found.mean, kind.mean);
  EXPECT_LE(*found.worst, kind.worst) << found.worst_item;
}

bool is_kn(std::string_view layout) { return layout == "kn"; }
bool is_nk(std::string_view layout) { return layout == "nk"; }
bool is_of_points(std::string_view layout) {
  return layout.starts_with("n_k_n_n.") || layout.starts_with("n_k_2n_2n.");
}
bool is_of_taps(std::string_view layout) { return layout.starts_with("n_k_nk_nk."); }

constexpr const char* h200 = "sm90-132sm-60mib";
constexpr const char* h100 = "sm90-132sm-50mib";

/// The limits are what choices lose now, rounded up: a change that makes them worse has to say so.
INSTANTIATE_TEST_SUITE_P(
    Journals, MeasuredChoice,
    testing::Values(MeasuredKind{"HalvesOnH200", "f16", is_kn, h200, 228, 1.006, 1.14},
                    MeasuredKind{"HalvesOfTokensOnH200", "f16", is_nk, h200, 148, 1.007, 1.15},
                    MeasuredKind{"FloatsOnH200", "f32", is_kn, h200, 630, 1.007, 1.19},
                    MeasuredKind{"FloatsOnH100", "f32", is_kn, h100, 183, 1.005, 1.18},
                    MeasuredKind{"RoundedFloatsOnH200", "tf32", is_kn, h200, 169, 1.007, 1.33},
                    MeasuredKind{"RoundedFloatsOnH100", "tf32", is_kn, h100, 77, 1.01, 1.15},
                    MeasuredKind{"TokensOnH200", "f32", is_nk, h200, 129, 1.012, 1.25},
                    MeasuredKind{"BrainFloatsOnH200", "bf16", is_kn, h200, 10, 1.004, 1.04},
                    MeasuredKind{"BrainFloatsOfTokensOnH200", "bf16", is_nk, h200, 26, 1.003, 1.03},
                    MeasuredKind{"RoundedFloatsOfTokensOnH200", "tf32", is_nk, h200, 23, 1.012, 1.14},
                    MeasuredKind{"DoublesOnH200", "f64", is_kn, h200, 53, 1.018, 1.16},
                    MeasuredKind{"DoublesOfTokensOnH200", "f64", is_nk, h200, 28, 1.007, 1.12},
                    MeasuredKind{"FiltersOfOnePixelOnH200", "f32", is_of_points, h200, 68, 1.01, 1.13},
                    MeasuredKind{"FiltersOfTapsOnH200", "f32", is_of_taps, h200, 22, 1.01, 1.05}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace esc::tuning
