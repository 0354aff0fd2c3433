// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace esc::tests {

/// The indices, ascending, of a small part of some items, each given by the values of its keys: every value of a key,
/// and every pair of values of two keys, that comes up in any item comes up in the part. The same for the same items
/// and seed of the run.
std::vector<std::size_t> covering_sample(const std::vector<std::vector<int>>& keys_of_items);

/// Those items themselves; `keys_of` gives an item's keys.
template <class Item, class KeysOf>
std::vector<Item> covering_part(const std::vector<Item>& items, const KeysOf& keys_of) {
  std::vector<std::vector<int>> keys;
  for (const Item& item : items) {
    keys.push_back(keys_of(item));
  }
  std::vector<Item> part;
  for (const std::size_t index : covering_sample(keys)) {
    part.push_back(items[index]);
  }
  return part;
}

}  // namespace esc::tests
