// SPDX-License-Identifier: Apache-2.0
#include "generator/model/quantised.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "generator/model/tensor_name.h"

namespace esc {
namespace {

using Words = std::vector<std::string>;
using WordSet = std::set<std::string, std::less<>>;

constexpr std::size_t most_companions = 3;
constexpr const char* dequantise =
    "write the model again with this layer as F32, F16 or BF16, by the library that has quantised it";

bool has_any(const Words& words, const WordSet& of) {
  return std::ranges::any_of(words, [&](const std::string& word) { return of.contains(word); });
}

/// "weight", and what packed weights are called.
bool names_weight(std::string_view leaf) {
  static const WordSet words{"weight", "weights", "qweight", "kernel", "proj", "codes", "qidxs"};
  return has_any(words_of(leaf), words);
}

/// Whether it is the name of numbers that elements are scaled or shifted by, or of a table that they point into:
/// "weight_scale_inv", "qzeros", "weight_zero_point", "weight_scale_2", "SCB", "quant_map".
bool names_parameter(std::string_view leaf) {
  static const WordSet endings{"inv", "point", "points", "packed", "map"};
  static const WordSet parameters{"scale", "scales", "zero",  "zeros",    "qzeros",    "qscales",  "zp",
                                  "scb",   "absmax", "quant", "codebook", "codebooks", "centroids"};
  Words words = words_of(leaf);
  const auto without_digits = [](std::string word) {
    word.resize(word.find_last_not_of("0123456789") + 1);
    return word;
  };
  while (!words.empty() && (endings.contains(words.back()) || without_digits(words.back()).empty())) {
    words.pop_back();
  }
  return !words.empty() && parameters.contains(without_digits(words.back()));
}

/// Whether it is the name of places or of truth values, which integers are where nothing is quantised.
bool names_places(std::string_view leaf) {
  static const WordSet words{"index", "indexes", "ids",   "idx",  "position", "positions", "mask",
                             "masks", "bias",    "shape", "perm", "token",    "tokens"};
  return has_any(words_of(leaf), words);
}

bool has_small_floats(const Weight& weight) { return !weight.type->element && weight.type->name[0] == 'F'; }
bool has_integers(const Weight& weight) { return weight.type->name[0] == 'I' || weight.type->name[0] == 'U'; }

/// A codebook may be a module of its own, M.centroids.weight: it is M's.
bool is_parameter(const Weight& weight) {
  return names_parameter(leaf_of(weight.name)) || names_parameter(leaf_of(module_of(weight.name)));
}
std::string_view layer_of(const Weight& weight) {
  const std::string_view module = module_of(weight.name);
  return names_parameter(leaf_of(module)) ? module_of(module) : module;
}

class Quantisation {
 public:
  explicit Quantisation(std::vector<Weight>& weights) {
    for (Weight& weight : weights) {
      by_name_.emplace(weight.name, &weight);
      by_layer_[layer_of(weight)].push_back(&weight);
    }
  }

  void mark() {
    for (auto& [layer, weights] : by_layer_) {
      for (Weight* const weight : weights) {
        if (is_quantised(*weight)) {
          mark_layer(*weight);
        }
      }
    }
    for (auto& [name, weight] : by_name_) {
      const bool is_of_numpy =
          module_of(name).empty() && words_of(name).size() == 1;  // a user's own array may be called scale
      if (!weight->obstacle && weight->type->element && weight->shape.size() > 1 && is_parameter(*weight) &&
          !is_of_numpy) {
        weight->obstacle = {"is by its name a scale, a zero point or a table of a quantised weight, and no weight",
                            dequantise, true};
      }
    }
  }

 private:
  /// Names that go on after a quantised one: "l.weight.absmax", "l.weight_scale", "l.weight:scale".
  std::vector<Weight*> continued(const Weight& weight) const {
    std::vector<Weight*> found;
    for (auto at = by_name_.upper_bound(weight.name); at != by_name_.end() && at->first.starts_with(weight.name);
         ++at) {
      if (std::string_view("._:").find(at->first[weight.name.size()]) != std::string_view::npos) {
        found.push_back(at->second);
      }
    }
    return found;
  }

  bool is_quantised(const Weight& weight) const {
    if (is_parameter(weight)) {
      return false;
    }
    if (has_small_floats(weight)) {
      return true;
    }
    if (!has_integers(weight) || names_places(leaf_of(weight.name))) {
      return false;
    }
    const std::vector<Weight*> continued_by = continued(weight);
    if (std::ranges::any_of(continued_by, [](const Weight* one) { return is_parameter(*one); }) ||
        has_parameters_beside(weight)) {
      return true;
    }
    // Places are counted in 64 bits, packed weights in fewer.
    return weight.type->bits < 64 &&
           (names_weight(leaf_of(weight.name)) || (weight.shape.size() > 1 && !layer_of(weight).empty()));
  }

  bool has_parameters_beside(const Weight& weight) const {
    return !layer_of(weight).empty() &&
           std::ranges::any_of(by_layer_.at(layer_of(weight)), [](const Weight* one) { return is_parameter(*one); });
  }

  /// What belongs to it.
  std::vector<Weight*> companions(const Weight& weight) const {
    std::vector<Weight*> found = continued(weight);
    for (Weight* const one : by_layer_.at(layer_of(weight))) {
      const bool is_told_by_name =
          is_parameter(*one) && (!layer_of(weight).empty() || names_weight(leaf_of(weight.name)));
      const bool is_rest_of_layer =
          !layer_of(weight).empty() && one->type->element && one->shape.size() > 1 && !names_weight(leaf_of(one->name));
      if (one != &weight && (is_told_by_name || is_rest_of_layer) && std::ranges::find(found, one) == found.end()) {
        found.push_back(one);
      }
    }
    return found;
  }

  void mark_layer(Weight& weight) const {
    const std::string_view layer = layer_of(weight);
    std::vector<std::string> names;
    for (Weight* const one : companions(weight)) {
      names.push_back(one->name.substr(layer.empty() ? 0 : layer.size() + 1));
      if (!one->obstacle) {
        one->obstacle = {fmt::format("belongs to {}, which is quantised ({})", weight.name, weight.type->name),
                         dequantise};
      }
    }
    std::ranges::sort(names);
    const bool has_more = names.size() > most_companions;
    names.resize(std::min(names.size(), most_companions));
    weight.obstacle = {fmt::format("is quantised ({}{}{}{})", weight.type->name, names.empty() ? "" : " with ",
                                   fmt::join(names, ", "), has_more ? ", .." : ""),
                       dequantise, true};
  }

  std::map<std::string_view, Weight*> by_name_;
  std::map<std::string_view, std::vector<Weight*>> by_layer_;
};

}  // namespace

void mark_quantised(std::vector<Weight>& weights) { Quantisation(weights).mark(); }

}  // namespace esc
