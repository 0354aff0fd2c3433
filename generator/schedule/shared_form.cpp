// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/shared_form.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "generator/schedule/element_types.h"
#include "generator/schedule/kernel_estimate.h"
#include "generator/schedule/packed_form.h"
#include "generator/schedule/search_space.h"

namespace esc {
namespace {

/// A form for a product: its fastest schedule.
struct FormOfProduct {
  double microseconds = 0;
  double bytes = 0;
};

/// By the forms of what is ranked.
std::map<std::string, FormOfProduct> forms_of(const LayerShape& shape, const KernelTarget& target,
                                              const ScheduleModel& model) {
  std::map<std::string, FormOfProduct> forms;
  constexpr std::size_t least_of_family = 48;  // whose forms may be the fastest for other numbers of columns
  for (const ExpectedSchedule& one : model.ranked(usual_space(shape), shape, target, {}, least_of_family)) {
    const auto [entry, is_fastest] = forms.try_emplace(packed_form(one.schedule));
    if (is_fastest) {
      entry->second = {one.at_most, static_cast<double>(estimated_kernel(one.schedule, shape).packed_bytes)};
    }
  }
  return forms;
}

/// A form for all products.
struct FormOfLayer {
  double microseconds = 0;  ///< weighted
  double bytes = 0;
  std::size_t products = 0;
};

}  // namespace

std::string shared_form(const std::vector<WeightedShape>& products, const KernelTarget& target,
                        const DeviceCatalog& catalog) {
  const ScheduleModel& model = catalog.model(target.device);
  std::map<std::string, FormOfLayer> forms;
  for (const auto& [shape, weight] : products) {
    for (const auto& [name, form] : forms_of(shape, target, model)) {
      FormOfLayer& all = forms[name];
      all.microseconds += weight * form.microseconds;
      all.bytes = std::max(all.bytes, form.bytes);
      ++all.products;
    }
  }
  std::erase_if(forms, [&](const auto& form) { return form.second.products < products.size(); });
  const auto cost = [&](const auto& form) {
    const LayerShape& shape = products.front().shape;
    const bool is_larger = form.second.bytes > shape.elements() * bytes_of_type(shape.dtype);
    return std::tuple(is_larger, is_larger ? form.second.bytes : form.second.microseconds);
  };
  const auto best = std::ranges::min_element(forms, {}, cost);
  return best == forms.end() ? "" : best->first;
}

}  // namespace esc
