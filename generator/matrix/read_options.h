#pragma once

#include <cstdint>

namespace esc {

/// How a matrix is read, apart from where it comes from.
struct ReadOptions {
  std::uint64_t seed = 0;        ///< draws the values of formats that hold only a pattern, see `drawn_value`
  bool allow_nonfinite = false;  ///< takes NaN and infinity as values instead of refusing them
};

}  // namespace esc
