#include "transformer/pack.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <numeric>
#include <stdexcept>

#include "transformer/digests.h"
#include "transformer/packing.h"
#include "transformer/view_sources.h"

namespace esc::transformer {
namespace {

template <typename View>
PackedShape checked_shape(const View& matrix, const PackingOptions& options) {
  check(matrix);
  if (options.height < 1 || options.height > max_height) {
    throw std::invalid_argument(fmt::format("a panel of {} rows: it has 1 to {}", options.height, max_height));
  }
  if (options.max_list_columns < 1) {
    throw std::invalid_argument("a longest list of 0 columns: it has at least 1");
  }
  return {matrix.rows, matrix.columns, options.height, options.max_list_columns, matrix.element};
}

/// Where each panel starts, and behind them the totals.
template <typename Source>
std::vector<PackedCounts> panel_starts(const Source& source, const PackedShape& shape) {
  std::vector<PackedCounts> starts(static_cast<std::size_t>(shape.panels()) + 1);
  tbb::parallel_for(std::int64_t{0}, shape.panels(), [&](std::int64_t panel) {
    starts[static_cast<std::size_t>(panel)] = total(count_patterns(source, shape, panel), shape);
  });
  std::exclusive_scan(starts.begin(), starts.end(), starts.begin(), PackedCounts{});
  return starts;
}

template <typename View>
PackedFormat plan_view(const View& matrix, const PackingOptions& options) {
  const PackedShape shape = checked_shape(matrix, options);
  return with_source(matrix, [&](const auto& source) { return describe(shape, panel_starts(source, shape).back()); });
}

template <typename Source>
PackedMatrix pack_source(const Source& source, const PackedShape& shape) {
  using Element = typename Source::ElementType;
  const std::vector<PackedCounts> starts = panel_starts(source, shape);
  PackedMatrix packed(describe(shape, starts.back()));
  with_arrays<Element>(packed.format(), packed.data(), [&](const auto& arrays) {
    tbb::parallel_for(std::int64_t{0}, shape.panels(), [&](std::int64_t panel) {
      const PatternCounts counts = count_patterns(source, shape, panel);
      fill_panel(source, shape, panel, counts, starts[static_cast<std::size_t>(panel)], arrays);
    });
  });
  seal<Element>(packed.format(), packed.data());
  return packed;
}

template <typename View>
PackedMatrix pack_view(const View& matrix, const PackingOptions& options) {
  const PackedShape shape = checked_shape(matrix, options);
  return with_source(matrix, [&](const auto& source) { return pack_source(source, shape); });
}

template <typename View>
std::vector<PatternDigest> digests_of_view(const View& matrix, std::uint32_t height) {
  return digest_all(rows_of(matrix), checked_shape(matrix, {.height = height}));
}

}  // namespace

PackedFormat plan(const DenseView& matrix, const PackingOptions& options) { return plan_view(matrix, options); }
PackedFormat plan(const CsrView& matrix, const PackingOptions& options) { return plan_view(matrix, options); }

PackedMatrix pack(const DenseView& matrix, const PackingOptions& options) { return pack_view(matrix, options); }
PackedMatrix pack(const CsrView& matrix, const PackingOptions& options) { return pack_view(matrix, options); }

std::vector<PatternDigest> pattern_digests(const DenseView& matrix, std::uint32_t height) {
  return digests_of_view(matrix, height);
}
std::vector<PatternDigest> pattern_digests(const CsrView& matrix, std::uint32_t height) {
  return digests_of_view(matrix, height);
}

}  // namespace esc::transformer
