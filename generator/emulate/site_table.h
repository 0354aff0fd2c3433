// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace esc {

/// A place in the text under check.
struct SourcePlace {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;

  auto operator<=>(const SourcePlace&) const = default;
};

/// Numbers the places of a text at which something checked happens. Number 0 is the unknown place.
class SiteTable {
 public:
  /// The number of `place`; equal places share one.
  std::uint32_t add(const SourcePlace& place);

  const SourcePlace& operator[](std::uint32_t site) const { return places_.at(site); }

  /// "file:line:column", or the file alone where no line is known.
  std::string describe(std::uint32_t site) const;

 private:
  std::vector<SourcePlace> places_{SourcePlace{}};
  std::map<SourcePlace, std::uint32_t> numbers_;
};

}  // namespace esc
