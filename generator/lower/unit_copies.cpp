// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/unit_copies.h"

#include <utility>

#include "generator/ir/build.h"
#include "generator/lower/pack_bitmap.h"
#include "generator/lower/staged_copies.h"

namespace esc {

const std::vector<std::string>& unit_arrays() {
  static const std::vector<std::string> names{"UnitWords", "OddColumns", "Bits", "Values"};
  return names;
}

Expression has_unit(const LoopNest& nest, const Expression& window) {
  const Expression is_window = less(window, index("windows"));
  return has_warpgroups(nest) ? is_window : all_of({is_window, less(index("panel"), index("panels"))});
}

Node find_unit(const LoopNest& nest, const Expression& turn) {
  const Expression number = index("unit_panel") * index("windows") + window_of(turn);
  return Node{Branch{
      has_unit(nest, window_of(turn)), {perform("find_unit", {element("UnitBegins"), number, element("unit")})}, {}}};
}

Block copy_of_unit(const LoopNest& nest, const Expression& turn, const Expression& stage) {
  std::vector<Expression> arguments;
  for (const std::string& array : unit_arrays()) {
    arguments.push_back(element(array));
  }
  for (const std::string& array : unit_arrays()) {
    arguments.push_back(element(staged_name(array)));
  }
  arguments.insert(arguments.end(),
                   {element("unit"), index("unit_panel"), window_of(turn), stage, index("copy"), index("lane")});
  return {Node{Branch{has_unit(nest, window_of(turn)), {perform("copy_bitmap_unit", std::move(arguments))}, {}}},
          find_unit(nest, turn + 1)};
}

}  // namespace esc
