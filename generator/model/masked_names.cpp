// SPDX-License-Identifier: Apache-2.0
#include "generator/model/masked_names.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace esc {
namespace {

constexpr std::string_view values_ending = "_orig";
constexpr std::string_view mask_ending = "_mask";
constexpr std::string_view parametrizations = "parametrizations.";
constexpr std::string_view original = "original";

/// Whether it is "NUMBER.mask".
bool is_numbered_mask(std::string_view rest) {
  const std::size_t point = rest.find('.');
  return point > 0 && rest.substr(0, point).find_first_not_of("0123456789") == rest.npos &&
         rest.substr(std::min(point, rest.size())) == ".mask";
}

std::optional<MaskedNames> parametrized(const ParametrizedName& name, const std::vector<std::string>& group) {
  MaskedNames names{.weight = name.weight, .values = name.prefix + std::string(original), .masks = {}};
  for (const std::string& one : group) {
    if (is_numbered_mask(std::string_view(one).substr(name.prefix.size()))) {
      names.masks.push_back(one);
    } else if (one != names.values) {
      return std::nullopt;  // something else takes part in the weight
    }
  }
  return names.masks.empty() || names.masks.size() == group.size() ? std::nullopt : std::optional(names);
}

}  // namespace

std::optional<ParametrizedName> parametrized_name(const std::string& name) {
  const std::size_t at = name.starts_with(parametrizations) ? 0 : name.find("." + std::string(parametrizations)) + 1;
  if (at == 0 && !name.starts_with(parametrizations)) {
    return std::nullopt;
  }
  const std::size_t begin = at + parametrizations.size();
  const std::size_t end = name.find('.', begin);
  if (end == name.npos) {
    return std::nullopt;
  }
  return ParametrizedName{.weight = name.substr(0, at) + name.substr(begin, end - begin),
                          .prefix = name.substr(0, end + 1)};
}

std::optional<MaskedNames> masked_names(const std::string& name,
                                        const std::function<std::vector<std::string>(const std::string&)>& names_from) {
  if (const std::optional<ParametrizedName> parts = parametrized_name(name)) {
    return parametrized(*parts, names_from(parts->prefix));
  }
  if (name.size() <= values_ending.size() || (!name.ends_with(values_ending) && !name.ends_with(mask_ending))) {
    return std::nullopt;
  }
  const std::string stem = name.substr(0, name.size() - values_ending.size());
  const std::vector<std::string> group = names_from(stem + "_");
  MaskedNames names{
      .weight = stem, .values = stem + std::string(values_ending), .masks = {stem + std::string(mask_ending)}};
  const auto has = [&](const std::string& one) { return std::ranges::find(group, one) != group.end(); };
  return has(names.values) && has(names.masks.front()) ? std::optional(names) : std::nullopt;
}

}  // namespace esc
