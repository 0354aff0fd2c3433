#pragma once

#include <tbb/parallel_for.h>

#include <cstdint>
#include <vector>

#include "transformer/pattern_check.h"

namespace esc::transformer {

/// The digests of all groups of panels of a source, on all threads that oneTBB gives.
template <typename Source, typename Shape>
std::vector<PatternDigest> digest_all(const Source& source, const Shape& shape) {
  std::vector<PatternDigest> digests(static_cast<std::size_t>(pattern_groups(shape)));
  tbb::parallel_for(std::int64_t{0}, pattern_groups(shape), [&](std::int64_t group) {
    digests[static_cast<std::size_t>(group)] = digest_group(source, shape, group);
  });
  return digests;
}

}  // namespace esc::transformer
