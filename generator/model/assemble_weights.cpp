// SPDX-License-Identifier: Apache-2.0
#include "generator/model/assemble_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>

#include "generator/model/experts.h"
#include "generator/model/masked_names.h"
#include "generator/model/quantised.h"
#include "generator/model/tensor_name.h"
#include "generator/model/tensor_roles.h"
#include "generator/support/limits.h"

namespace esc {
namespace {

[[noreturn]] void refuse(const StoredTensor& tensor, const std::string& rule, const char* remedy = save_model_again) {
  refuse_element(tensor, 0, rule, remedy);
}

/// Tensors by name, each of which one weight takes.
class Pool {
 public:
  explicit Pool(std::vector<StoredTensor> tensors) {
    for (StoredTensor& tensor : tensors) {
      const std::string name = tensor.name;
      names_.push_back(name);
      const auto [known, is_new] = tensors_.emplace(name, std::move(tensor));
      if (!is_new) {
        refuse(known->second, "is there twice", "leave one of the two out");
      }
    }
  }
  const std::vector<std::string>& names() const { return names_; }
  /// The names that begin so, in order.
  std::vector<std::string> names_from(const std::string& begin) const {
    std::vector<std::string> names;
    for (auto at = tensors_.lower_bound(begin); at != tensors_.end() && at->first.starts_with(begin); ++at) {
      names.push_back(at->first);
    }
    return names;
  }
  const StoredTensor* find(const std::string& name) const {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? nullptr : &found->second;
  }
  StoredTensor take(const std::string& name) { return std::move(tensors_.extract(name).mapped()); }

 private:
  std::vector<std::string> names_;
  std::map<std::string, StoredTensor> tensors_;
};

/// The name without its ending; none where it has another one.
std::optional<std::string> stem_of(const std::string& name, std::string_view ending) {
  return name.size() > ending.size() && name.ends_with(ending)
             ? std::optional(name.substr(0, name.size() - ending.size()))
             : std::nullopt;
}

void check_mask(const StoredTensor& mask, const StoredTensor& values) {
  const bool is_of_rows =
      !values.is_fortran_order && values.shape.size() > 1 && mask.shape == std::vector{values.shape.front()};
  if (mask.shape != values.shape && !is_of_rows) {
    refuse(mask, fmt::format("is a mask of {} for {} elements", shape_text(mask.shape), shape_text(values.shape)));
  }
  if (!is_of_rows && mask.is_fortran_order != values.is_fortran_order) {
    refuse(mask, "is a mask in another order than its values, C or Fortran");
  }
  if (!mask.type->element && mask.type != tensor_type("BOOL") && mask.type != tensor_type("U8")) {
    refuse(mask, fmt::format("is a mask of type {}, not of floats, BOOL or U8", mask.type->name));
  }
}

Weight masked_weight(const MaskedNames& names, Pool& pool) {
  StoredTensor values = pool.take(names.values);
  Weight weight{.name = names.weight,
                .form = WeightForm::masked,
                .type = values.type,
                .shape = values.shape,
                .parts = {std::move(values)}};
  for (const std::string& name : names.masks) {
    weight.parts.push_back(pool.take(name));
    check_mask(weight.parts.back(), weight.parts.front());
  }
  return weight;
}

/// The two numbers of a shape tensor.
std::vector<std::int64_t> read_shape(const StoredTensor& tensor) {
  if (tensor.type != tensor_type("I64") || tensor.elements() != 2) {
    refuse(tensor, fmt::format("is no shape of two I64, but {} of {}", shape_text(tensor.shape), tensor.type->name));
  }
  std::array<std::int64_t, 2> shape{};
  open_tensor(tensor)->read(std::as_writable_bytes(std::span(shape)));
  for (std::size_t index = 0; index < shape.size(); ++index) {
    if (shape[index] < 1 || shape[index] > largest_dimension) {
      refuse_element(tensor, index, fmt::format("is a shape with an extent of {}, outside 1 to 2^31 - 1", shape[index]),
                     save_model_again);
    }
  }
  return {shape.begin(), shape.end()};
}

Weight bitmask_weight(const std::string& prefix, Pool& pool) {
  const StoredTensor* offsets = pool.find(prefix + ".row_offsets");
  Weight weight{.name = prefix.ends_with(".weight") ? prefix : prefix + ".weight",
                .form = offsets != nullptr ? WeightForm::bitmask : WeightForm::two_four};
  for (const char* part : {".shape", ".compressed", ".bitmask", ".row_offsets"}) {
    if (pool.find(prefix + part) != nullptr) {
      weight.parts.push_back(pool.take(prefix + part));
    } else if (part != std::string_view(".row_offsets")) {
      refuse(weight.parts.empty() ? *pool.find(prefix + ".compressed") : weight.parts.back(),
             fmt::format("is a part of a sparse-bitmask weight, which lacks {}{}", prefix, part));
    }
  }
  const StoredTensor& compressed = weight.parts[1];
  const StoredTensor& bitmask = weight.parts[2];
  weight.type = compressed.type;
  weight.shape = read_shape(weight.parts[0]);
  const std::int64_t mask_bytes = (weight.columns() + 7) / 8;
  if (bitmask.type != tensor_type("U8") || bitmask.shape != std::vector{weight.rows(), mask_bytes}) {
    refuse(bitmask,
           fmt::format("is {} of {}, where a bitmask of {} elements is {} x {} of U8", shape_text(bitmask.shape),
                       bitmask.type->name, shape_text(weight.shape), weight.rows(), mask_bytes));
  }
  if (weight.form == WeightForm::bitmask) {
    const StoredTensor& starts = weight.parts[3];
    if (starts.type != tensor_type("I64") || starts.shape != std::vector{weight.rows()}) {
      refuse(starts, fmt::format("is {} of {}, where {} rows have as many offsets of I64", shape_text(starts.shape),
                                 starts.type->name, weight.rows()));
    }
    if (compressed.shape.size() != 1) {
      refuse(compressed,
             fmt::format("has the shape {}, where the values are in one row", shape_text(compressed.shape)));
    }
  } else if (weight.columns() % 4 != 0 || compressed.shape != std::vector{weight.rows(), weight.columns() / 2}) {
    refuse(compressed, fmt::format("has the shape {}, where {} elements have half of them as values, two of four",
                                   shape_text(compressed.shape), shape_text(weight.shape)));
  }
  return weight;
}

/// Whether two of the three parts that only such a weight has together are there.
bool is_bitmask(const Pool& pool, const std::string& prefix) {
  return pool.find(prefix + ".compressed") != nullptr &&
         (pool.find(prefix + ".bitmask") != nullptr || pool.find(prefix + ".row_offsets") != nullptr);
}

std::optional<Weight> take_weight(Pool& pool, const std::string& name) {
  if (pool.find(name) == nullptr) {
    return std::nullopt;
  }
  if (const auto names = masked_names(name, [&](const std::string& begin) { return pool.names_from(begin); })) {
    return masked_weight(*names, pool);
  }
  for (const char* part : {".shape", ".compressed", ".bitmask", ".row_offsets"}) {
    if (const auto prefix = stem_of(name, part); prefix && is_bitmask(pool, *prefix)) {
      return bitmask_weight(*prefix, pool);
    }
  }
  StoredTensor tensor = pool.take(name);
  return Weight{.name = name,
                .form = WeightForm::plain,
                .type = tensor.type,
                .shape = tensor.shape,
                .parts = {std::move(tensor)}};
}

}  // namespace

std::vector<Weight> assemble_weights(std::vector<StoredTensor> tensors) {
  Pool pool(std::move(tensors));
  std::vector<Weight> weights;
  for (const std::string& name : pool.names()) {
    if (std::optional<Weight> weight = take_weight(pool, name)) {
      weights.push_back(std::move(*weight));
    }
  }
  mark_quantised(weights);
  mark_other_roles(weights);
  weights = split_experts(std::move(weights));
  std::ranges::sort(weights, [](const Weight& a, const Weight& b) { return is_before(a.name, b.name); });
  const auto twice = std::ranges::adjacent_find(weights, {}, &Weight::name);
  if (twice != weights.end()) {
    refuse((twice + 1)->parts.front(), fmt::format("makes a second weight {}", twice->name),
           "leave one of the two out");
  }
  return weights;
}

}  // namespace esc
