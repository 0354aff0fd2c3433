// SPDX-License-Identifier: Apache-2.0
#include "generator/model/experts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "generator/model/tensor_name.h"
#include "generator/support/error.h"

namespace esc {
namespace {

/// Beyond any model; each is a line of the list.
constexpr std::int64_t most_experts = 4096;

/// A slice along the first dimension.
StoredTensor slice_of(const StoredTensor& tensor, std::int64_t number) {
  StoredTensor slice = tensor;
  slice.shape.erase(slice.shape.begin());
  const std::uint64_t bytes = slice.elements() * tensor.type->bytes();
  const std::uint64_t skipped = static_cast<std::uint64_t>(number) * bytes;
  if (tensor.member) {
    slice.skipped += skipped;
  } else {
    slice.begin += skipped;
    slice.end = slice.begin + bytes;
  }
  return slice;
}

/// Whether the tensor can be taken apart.
bool is_sliced(const Weight& weight) {
  return (weight.form == WeightForm::plain || weight.form == WeightForm::masked) && weight.type->element &&
         !weight.obstacle && std::ranges::all_of(weight.parts, [](const StoredTensor& part) {
           return part.shape.size() == 3 && !part.is_fortran_order && part.elements() > 0;
         });
}

/// The module of the experts, whose other tensors are of the same size.
std::string_view mixture_of(const Weight& weight) {
  const std::string_view module = module_of(weight.name);
  return leaf_of(weight.name) == "weight" ? module_of(module) : module;
}

/// Whether these two are the fused first and the last matrix of experts in x out: H x 2I and I x H.
bool is_in_by_out(const Weight& first, const Weight& last) {
  return first.shape[0] == last.shape[0] && first.shape[1] == last.shape[2] && first.shape[2] == 2 * last.shape[1];
}

}  // namespace

Weight expert_of(const Weight& tensor, std::int64_t number) {
  ESC_CHECK(tensor.shape.size() == 3 && number >= 0 && number < tensor.shape[0], "an expert that the tensor has");
  Weight weight{.name = fmt::format("{}.{}", tensor.name, number),
                .form = tensor.form,
                .type = tensor.type,
                .shape = {tensor.shape[1], tensor.shape[2]},
                .expert = Expert{.number = number, .count = tensor.shape[0]}};
  for (const StoredTensor& part : tensor.parts) {
    weight.parts.push_back(slice_of(part, number));
  }
  return weight;
}

bool has_experts(const Weight& tensor) {
  bool found = false;
  for (const std::string& word : words_of(tensor.name)) {
    if (word.find("conv") != word.npos) {
      return false;
    }
    found |= word.find("expert") != word.npos || word == "moe";
  }
  return found && is_sliced(tensor);
}

std::vector<Weight> split_experts(std::vector<Weight> weights) {
  std::map<std::string_view, std::vector<const Weight*>> mixtures;
  for (const Weight& weight : weights) {
    if (has_experts(weight)) {
      mixtures[mixture_of(weight)].push_back(&weight);
    }
  }
  const auto is_transposed = [&](const Weight& weight) {
    const std::vector<const Weight*>& mixture = mixtures.at(mixture_of(weight));
    return std::ranges::any_of(mixture, [&](const Weight* first) {
      return std::ranges::any_of(mixture, [&](const Weight* last) { return is_in_by_out(*first, *last); });
    });
  };
  std::vector<Weight> split;
  for (Weight& weight : weights) {
    if (!has_experts(weight)) {
      continue;
    }
    if (weight.shape[0] > most_experts) {
      weight.obstacle = {fmt::format("has {} experts, more than {}", weight.shape[0], most_experts),
                         "name one: " + weight.name + ".0"};
      continue;
    }
    const bool transposes = is_transposed(weight);
    for (std::int64_t number = 0; number < weight.shape[0]; ++number) {
      Weight expert = expert_of(weight, number);
      if (transposes) {
        expert = transposed(std::move(expert));
        expert.expert->is_transposed = true;
      }
      split.push_back(std::move(expert));
    }
  }
  std::erase_if(weights, has_experts);
  std::ranges::move(weights, std::back_inserter(split));
  return split;
}

}  // namespace esc
