// SPDX-License-Identifier: Apache-2.0
#include <tbb/parallel_for.h>

#include "transformer/checked_shape.h"
#include "transformer/pack.h"
#include "transformer/view_sources.h"

namespace esc::transformer {
namespace {

/// Row tiles that nothing else is known of.
struct RowTileCut {
  std::uint32_t height = 1;
  static constexpr Rule elements = any_elements;

  template <typename Visit>
  constexpr void visit_cut(const Visit& visit) {
    visit("height", height, between(1, max_source_rows));
  }
};

}  // namespace

std::vector<PatternDigest> pattern_digests(const CsrView& matrix, std::uint32_t height) {
  const Shape<RowTileCut> shape = checked_shape(matrix, RowTileCut{height});
  std::vector<PatternDigest> digests(static_cast<std::size_t>(pattern_groups(shape)));
  tbb::parallel_for(std::int64_t{0}, pattern_groups(shape), [&](std::int64_t group) {
    digests[static_cast<std::size_t>(group)] = digest_group(rows_of(matrix), shape, group);
  });
  return digests;
}

}  // namespace esc::transformer
