// SPDX-License-Identifier: Apache-2.0
#include "generator/model/tensor_roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "generator/model/masked_names.h"
#include "generator/model/tensor_name.h"

namespace esc {
namespace {

constexpr const char* apply_mask = "save the weight as it is multiplied, with zeros where the mask takes elements away";
constexpr const char* remove_parametrization =
    "save the model after torch.nn.utils.prune.remove, torch.nn.utils.parametrize.remove_parametrizations or what else "
    "ends it, so that the weight itself is in the file";

/// The name without its ending; empty where it has another one.
std::string without(std::string_view name, std::string_view ending) {
  return name.size() > ending.size() && name.ends_with(ending)
             ? std::string(name.substr(0, name.size() - ending.size()))
             : std::string();
}

/// "mask", "weight_mask", and the "mask_scores" that movement pruning makes a mask of.
bool names_mask(std::string_view name) {
  const std::vector<std::string> words = words_of(leaf_of(name));
  const bool has_scores = words.size() > 1 && words[words.size() - 2] == "mask" && words.back() == "scores";
  return !words.empty() && (words.back() == "mask" || words.back() == "masks" || has_scores);
}

bool names_bias(std::string_view name) {
  const std::vector<std::string> words = words_of(leaf_of(name));
  return !words.empty() && (words.back() == "bias" || words.back() == "biases");
}

class Roles {
 public:
  explicit Roles(std::vector<Weight>& weights) {
    for (Weight& weight : weights) {
      by_name_.emplace(weight.name, &weight);
    }
  }

  void mark() {
    for (auto& [name, weight] : by_name_) {
      if (weight->form != WeightForm::plain || weight->obstacle) {
        continue;
      }
      mark_original(*weight);
      if (!weight->obstacle && names_mask(name)) {
        mark_mask(*weight);
      }
      if (!weight->obstacle && weight->shape.size() > 1 && names_bias(name)) {
        weight->obstacle = {"is by its name a bias, which is added and not multiplied",
                            "name a weight: escgen inspect lists them"};
      }
    }
  }

 private:
  Weight* find(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }

  /// What a weight is computed from.
  void mark_original(Weight& weight) const {
    if (const std::optional<ParametrizedName> name = parametrized_name(weight.name)) {
      const bool is_mask = names_mask(weight.name) && find(name->prefix + "original") == nullptr;
      weight.obstacle =
          is_mask ? Obstacle{fmt::format("is a mask, and {}original, whose elements it takes away, is not there",
                                         name->prefix),
                             apply_mask, true}
                  : Obstacle{fmt::format("is what {} is computed from, and not by masks alone", name->weight),
                             remove_parametrization, true};
      return;
    }
    if (const std::string stem = without(weight.name, "_orig"); !stem.empty()) {
      weight.obstacle = {
          fmt::format("is what {0} is computed from, and {0}_mask, which would say how, is not there", stem),
          remove_parametrization, true};
      return;
    }
    for (const auto& [one, other] : {std::pair("_g", "_v"), std::pair("_v", "_g")}) {
      const std::string stem = without(weight.name, one);
      if (!stem.empty() && find(stem) == nullptr && find(stem + other) != nullptr) {
        weight.obstacle = {
            fmt::format("is what {0} is computed from, with {0}{1}: length and direction of its rows", stem, other),
            remove_parametrization, true};
      }
    }
  }

  /// A mask is no weight, and what it is the mask of may have it applied or not.
  void mark_mask(Weight& mask) const {
    const std::string stem = without(mask.name, "_mask");
    mask.obstacle =
        stem.empty() || find(stem) != nullptr
            ? Obstacle{"is by its name a mask, and no weight", apply_mask}
            : Obstacle{fmt::format("is a mask, and {}_orig, whose elements it takes away, is not there", stem),
                       apply_mask, true};
    const std::string module(module_of(mask.name));
    for (const std::string& name : {stem, module.empty() ? std::string("weight") : module + ".weight"}) {
      Weight* const weight = find(name);
      if (weight != nullptr && !weight->obstacle && weight->shape == mask.shape) {
        weight->obstacle = {fmt::format("has {} beside it, and nothing says whether it has been applied", mask.name),
                            apply_mask, true};
      }
    }
  }

  std::map<std::string, Weight*> by_name_;
};

}  // namespace

void mark_other_roles(std::vector<Weight>& weights) { Roles(weights).mark(); }

}  // namespace esc
