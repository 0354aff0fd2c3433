// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/page_head.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "generator/report/answer.h"
#include "generator/report/page.h"
#include "generator/schedule/element_types.h"
#include "generator/support/means.h"

namespace esc::tuning {
namespace {

bool knows_bytes(const ItemSummary& item) { return item.kernel && item.kernel->packed_bytes > 0; }

double packed_bytes(const ItemSummary& item) { return static_cast<double>(item.kernel->packed_bytes); }

double dense_bytes(const ItemSummary& item) {
  return bytes_of_type(item.item.dtype) * static_cast<double>(item.item.layer.rows) *
         static_cast<double>(item.item.layer.columns);
}

struct Bytes {
  std::size_t items = 0;
  double packed = 0;
  double dense = 0;
};

/// Of those items whose winners' sizes are known.
Bytes bytes_of(const std::vector<ItemSummary>& items) {
  Bytes bytes;
  for (const ItemSummary& item : items) {
    if (knows_bytes(item)) {
      ++bytes.items;
      bytes.packed += packed_bytes(item);
      bytes.dense += dense_bytes(item);
    }
  }
  return bytes;
}

const char* layers_word(std::size_t count) { return count == 1 ? "layer" : "layers"; }
const char* products_word(std::size_t count) { return count == 1 ? "product" : "products"; }

/// How ours compares with libraries, over all products for which both were measured.
class Wins {
 public:
  explicit Wins(const std::vector<ItemSummary>& items) {
    for (const ItemSummary& item : items) {
      if (const std::optional<double> ratio = speed_up(item, Rival::best_exact)) {
        ratios_.push_back(*ratio);
      }
    }
  }

  std::size_t compared() const { return ratios_.size(); }
  std::size_t won() const {
    return static_cast<std::size_t>(std::ranges::count_if(ratios_, [](double ratio) { return ratio > 1; }));
  }
  double geometric_mean() const { return esc::geometric_mean(ratios_).value(); }

 private:
  std::vector<double> ratios_;
};

/// The sentence and the figures where a library was measured.
std::string head_with(const Wins& wins, const std::vector<std::string>& devices,
                      const std::vector<LeadingFigure>& bytes) {
  std::vector<LeadingFigure> figures{
      {fmt::format("{:.2f} x", wins.geometric_mean()),
       fmt::format("as fast as the best exact library: the geometric mean over {} {}, measured on {}", wins.compared(),
                   products_word(wins.compared()), fmt::join(devices, ", "))},
      {fmt::format("{} of {}", wins.won(), wins.compared()),
       fmt::format("products are faster with a generated kernel; {} stay with a library",
                   wins.compared() - wins.won())}};
  figures.insert(figures.end(), bytes.begin(), bytes.end());
  return answer(
      fmt::format("A generated kernel is faster than every exact library for {} of {} {}; a product is a layer "
                  "with one N.",
                  wins.won(), wins.compared(), products_word(wins.compared())),
      figures);
}

std::string head_without_library(const std::vector<ItemSummary>& items, const std::vector<std::string>& devices,
                                 const std::vector<LeadingFigure>& bytes) {
  const auto right =
      std::ranges::count_if(items, [](const ItemSummary& item) { return item.microseconds.has_value(); });
  std::vector<LeadingFigure> figures{
      {fmt::format("{} of {}", right, items.size()),
       fmt::format("products have a right kernel that was timed on {}", fmt::join(devices, ", "))}};
  figures.insert(figures.end(), bytes.begin(), bytes.end());
  return answer("No product, a layer with one N, has both a right kernel and a library to compare it with.", figures);
}

}  // namespace

std::string page_head(const std::vector<ItemSummary>& items, const std::vector<std::string>& devices) {
  std::vector<LeadingFigure> figures;
  if (const Bytes bytes = bytes_of(items); bytes.items > 0) {
    figures.push_back(bytes_figure(bytes.packed, bytes.dense));
  }
  const Wins wins(items);
  return wins.compared() > 0 ? head_with(wins, devices, figures) : head_without_library(items, devices, figures);
}

std::string bytes_section(const std::vector<GroupSummary>& groups) {
  std::vector<Bar> totals;
  std::vector<Bar> layers;
  for (const GroupSummary& group : groups) {
    if (const Bytes bytes = bytes_of(group.items); bytes.items > 0) {
      totals.push_back(bytes_bar(fmt::format("N = {}, {} {}", group.bcol, bytes.items, layers_word(bytes.items)),
                                 bytes.packed, bytes.dense));
    }
    for (const ItemSummary& item : group.items) {
      if (knows_bytes(item)) {
        layers.push_back(
            bytes_bar(fmt::format("{}, N = {}", item.name, group.bcol), packed_bytes(item), dense_bytes(item)));
      }
    }
  }
  if (totals.empty()) {
    return {};
  }
  return heading(3, "Bytes beside dense") +
         paragraph("The packed weights of the fastest kernels. A full bar is the layer as a dense matrix.") +
         bar_chart(totals) + folded("Each layer", bar_chart(layers));
}

}  // namespace esc::tuning
