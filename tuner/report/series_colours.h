// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

namespace esc::tuning {

/// Colours that are told apart by most people who do not see all of them (Okabe and Ito), with a grey in place of
/// black, which is not seen on a dark page.
inline constexpr std::array<const char*, 7> series_colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                           "#e69f00", "#56b4e9", "#7f7f7f"};

/// The colour of the series with this index.
inline const char* series_colour(std::size_t index) { return series_colours[index % series_colours.size()]; }

}  // namespace esc::tuning
