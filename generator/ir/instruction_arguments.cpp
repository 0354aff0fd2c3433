// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/instruction_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/support/error.h"

namespace esc {
namespace {

/// The part with the extents of the parameter, where it names some.
ArrayView looked_at(NestState& state, ArrayView given, const Instruction::Parameter& parameter) {
  if (parameter.extents.empty()) {
    return given;
  }
  const std::int64_t room = given.size();
  given.extents.clear();
  for (const Affine& extent : parameter.extents) {
    given.extents.push_back(state.evaluate(extent));
  }
  ESC_CHECK(given.size() <= room, "there is room for " + parameter.name);
  return given;
}

/// Whether each thread has one, of registers.
bool is_own(const ArrayView& view) { return view.written != nullptr && !view.is_shared(); }

}  // namespace

ArraysByName bind_arrays(NestState& state, const Instruction& called, const Perform& perform) {
  ArraysByName arrays;
  for (std::size_t at = 0; at < called.parameters.size(); ++at) {
    const Instruction::Parameter& parameter = called.parameters[at];
    if (parameter.is_array()) {
      const Access* access = perform.arguments.at(at).access();
      ESC_CHECK(access != nullptr, "an array is given for " + parameter.name);
      // A pointer may be after the end, as long as nothing is done there.
      const bool stands_outside = parameter.passing == Instruction::Passing::pointer &&
                                  state.is_outside(state.find_array(access->array), *access);
      arrays[parameter.name] = stands_outside ? ArrayView{{0}} : looked_at(state, state.part(*access), parameter);
    }
  }
  return arrays;
}

WarpArguments::WarpArguments(NestState& state, const Threads& lanes, const Instruction& called, const Perform& perform)
    : own_(lanes.size()) {
  ESC_CHECK(static_cast<std::int64_t>(lanes.size()) == lanes_of_warp,
            fmt::format("{} lanes of a warp perform {} together", lanes.size(), called.name));
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    state.run_as(*lanes[lane]);
    own_[lane] = bind_arrays(state, called, perform);
  }
  for (std::size_t at = 0; at < called.parameters.size(); ++at) {
    const Instruction::Parameter& parameter = called.parameters[at];
    if (parameter.is_array() && !is_own(own_[0].at(parameter.name))) {
      arrays_[parameter.name] = own_[0].at(parameter.name);
      continue;
    }
    const ArrayView all =
        parameter.is_array() ? gather(parameter.name, own_[0].at(parameter.name).extents) : gather(parameter.name, {});
    const std::int64_t size = all.size() / lanes_of_warp;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      const std::int64_t first = static_cast<std::int64_t>(lane) * size;
      state.run_as(*lanes[lane]);
      if (parameter.is_array()) {
        const ArrayView& one = own_[lane].at(parameter.name);
        std::copy_n(one.elements, size, all.elements + first);
        std::copy_n(one.written, size, all.written + first);
      } else {
        all.elements[first] = state.value(perform.arguments.at(at));
        all.written[first] = 1;
      }
    }
  }
  for (const std::string& result : called.results) {
    gather(result, {});
  }
  for (const ArrayDeclaration& temporary : called.temporaries) {
    arrays_[temporary.name] = gathered_.emplace_back(state.extents_of(temporary)).view();
  }
}

ArrayView WarpArguments::gather(const std::string& name, std::vector<std::int64_t> extents) {
  extents.insert(extents.begin(), lanes_of_warp);
  return arrays_[name] = gathered_.emplace_back(std::move(extents)).view();
}

void WarpArguments::hand_back(const Threads& lanes, const Instruction& called, const Perform& perform) const {
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    for (const auto& [name, one] : own_[lane]) {
      if (!is_own(one)) {
        continue;
      }
      const ArrayView& all = arrays_.at(name);
      const std::int64_t first = static_cast<std::int64_t>(lane) * one.size();
      std::copy_n(all.elements + first, one.size(), one.elements);
      std::copy_n(all.written + first, one.size(), one.written);
    }
    for (std::size_t at = 0; at < called.results.size(); ++at) {
      lanes[lane]->define(perform.results.at(at), arrays_.at(called.results[at]).elements[lane]);
    }
  }
}

}  // namespace esc
