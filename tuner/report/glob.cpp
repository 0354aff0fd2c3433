// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/glob.h"

#include <fnmatch.h>

#include <algorithm>
#include <iterator>

#include "generator/support/error.h"

namespace esc::tuning {

bool fits(const ItemSummary& item, const std::string& pattern) {
  const auto matches = [&](const std::string& text) {
    return text == pattern || fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
  };
  return matches(label(item)) || matches(item.name) || matches(item.item.layer.file);
}

std::vector<ItemSummary> pick(const std::vector<ItemSummary>& items, const std::string& pattern) {
  std::vector<ItemSummary> picked;
  std::ranges::copy_if(items, std::back_inserter(picked), [&](const ItemSummary& item) { return fits(item, pattern); });
  if (picked.empty()) {
    throw UserError("--item " + pattern, "fits no item of these records",
                    "items are called NAME@BCOL, as in " + (items.empty() ? "layer.smtx@32" : label(items.front())));
  }
  return picked;
}

}  // namespace esc::tuning
