// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/site_table.h"

#include <fmt/format.h>

namespace esc {

std::uint32_t SiteTable::add(const SourcePlace& place) {
  const auto [found, fresh] = numbers_.try_emplace(place, static_cast<std::uint32_t>(places_.size()));
  if (fresh) {
    places_.push_back(place);
  }
  return found->second;
}

std::string SiteTable::describe(std::uint32_t site) const {
  const SourcePlace& place = places_.at(site);
  return place.line == 0 ? place.file : fmt::format("{}:{}:{}", place.file, place.line, place.column);
}

}  // namespace esc
