// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/layer_worth.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "generator/emit/layout_class.h"
#include "generator/schedule/shared_form.h"

namespace esc {
namespace {

/// A tensor that is looked up row by row is multiplied with nothing.
bool is_embedding(const std::string& name) {
  static const std::set<std::string, std::less<>> names{
      "embed_tokens",        "embed_positions",       "wte",           "wpe", "word_embeddings",
      "position_embeddings", "token_type_embeddings", "tok_embeddings"};
  std::size_t begin = 0;
  for (std::size_t end = 0; end != name.npos; begin = end + 1) {
    end = name.find('.', begin);
    if (names.contains(name.substr(begin, end == name.npos ? end : end - begin))) {
      return true;
    }
  }
  return false;
}

bool is_like(const std::string& name, const std::string& pattern) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

std::string why_larger(double dense_bytes, const std::vector<PlannedKernel>& kernels) {
  const auto is_smaller = [&](const PlannedKernel& kernel) { return kernel.bytes <= dense_bytes; };
  if (kernels.empty() || std::ranges::any_of(kernels, is_smaller)) {
    return "";
  }
  const PlannedKernel& least = *std::ranges::min_element(kernels, {}, &PlannedKernel::bytes);
  return fmt::format("{:.2f} of the dense bytes at least", least.bytes / dense_bytes);
}

/// The times of the products of which they are known, each as often as it weighs, or else those that follow where the
/// library's are all alike.
struct KnownTimes {
  int kernels = 0;
  double library = 0;
  double ours = 0;

  void add(double library_time, double ratio, double weight) {
    ++kernels;
    library += weight * library_time;
    ours += weight * (library_time / ratio);
  }
};

KnownTimes known_times(const std::vector<PlannedKernel>& kernels) {
  const auto ratio_of = [](const PlannedKernel& kernel) {
    return kernel.measured       ? kernel.measured->over_exact
           : kernel.beside_dense ? std::optional(kernel.beside_dense->over_dense())
                                 : std::nullopt;
  };
  const auto library_time = [](const PlannedKernel& kernel) {
    return kernel.measured       ? kernel.measured->exact_microseconds
           : kernel.beside_dense ? std::optional(kernel.beside_dense->dense)
                                 : std::nullopt;
  };
  const auto lacks_time = [&](const PlannedKernel& kernel) { return ratio_of(kernel) && !library_time(kernel); };
  const bool alike = std::ranges::any_of(kernels, lacks_time);
  KnownTimes times;
  for (const PlannedKernel& kernel : kernels) {
    if (const std::optional<double> ratio = ratio_of(kernel)) {
      times.add(alike ? 1 : *library_time(kernel), *ratio, kernel.weight);
    }
  }
  return times;
}

std::string why_slower(const std::vector<PlannedKernel>& kernels) {
  const KnownTimes times = known_times(kernels);
  if (times.ours <= times.library) {
    return "";
  }
  const auto predicted = std::ranges::count_if(
      kernels, [](const PlannedKernel& kernel) { return !kernel.measured && kernel.beside_dense; });
  const bool weighted = std::ranges::any_of(kernels, [](const PlannedKernel& kernel) { return kernel.weight != 1; });
  return fmt::format("{:.2f} x a library's speed where that is known, {} of {} numbers of columns{}{}",
                     times.library / times.ours, times.kernels, kernels.size(), weighted ? ", weighted" : "",
                     predicted > 0 ? fmt::format(", {} predicted", predicted) : "");
}

}  // namespace

bool is_asked_for(const std::string& tensor, const ModelRequest& request) {
  return request.tensors.empty() ||
         std::ranges::any_of(request.tensors, [&](const std::string& pattern) { return is_like(tensor, pattern); });
}

bool is_meant(const std::string& tensor, const LayerException& exception) { return is_like(tensor, exception.tensor); }

const LayerException* exception_for(const std::string& tensor, const ModelRequest& request) {
  const auto found =
      std::ranges::find_if(request.exceptions, [&](const LayerException& one) { return is_meant(tensor, one); });
  return found == request.exceptions.end() ? nullptr : &*found;
}

std::string why_no_layer(const Weight& weight, const ModelRequest& request) {
  if (const std::string why = why_no_matrix(weight); !why.empty()) {
    return why;
  }
  if (is_embedding(weight.name) && request.tensors.empty()) {
    return "is an embedding, of which rows are looked up; name it with --tensor to have a kernel of it";
  }
  const LayerException* const exception = exception_for(weight.name, request);
  return exception != nullptr && exception->skip ? "is left out by the spec" : "";
}

std::string why_not_sparse(const WeightSurvey& survey, double sparsity, const ModelRequest& request) {
  if (const double least = request.layer.min_sparsity.value_or(model_min_sparsity); sparsity < least) {
    return fmt::format("has {:.1f} % zeros, less than {:.1f} %", 100 * sparsity, 100 * least);
  }
  return survey.nonzeros == 0 ? "has no non-zeros: C is zero" : "";
}

double sparsity_of(const Weight& weight, const WeightSurvey& survey) {
  return 1 - static_cast<double>(survey.nonzeros) / static_cast<double>(weight.rows()) /
                 static_cast<double>(weight.columns());
}

double dense_bytes(const Weight& weight, const LoopNest& nest) {
  return static_cast<double>(weight.rows()) * static_cast<double>(weight.columns()) * bytes_of(nest.element());
}

LayerRequest with_one_form(LayerRequest layer, const std::vector<TokenCount>& counts, const GenerateMode& mode,
                           const LayerExtent& extent, const LoopNest& nest) {
  const bool leaves_choice =
      layer.schedule == "auto" && mode.own.databases.empty() && !mode.max_packed && mode.compaction;
  if (!leaves_choice || counts.size() < 2) {
    return layer;
  }
  std::vector<WeightedShape> products;
  for (const TokenCount& count : counts) {
    const ProductColumns columns = product_columns(nest, count.columns);
    products.push_back({{.bcol = columns.count,
                         .rows = extent.rows,
                         .columns = extent.columns,
                         .nonzeros = extent.nonzeros,
                         .layout = layout_class(nest),
                         .contiguous = columns.are_contiguous,
                         .dtype = name_of(nest.element()),
                         .sparse24 = extent.sparse24,
                         .cache = usual_cache(name_of(nest.element()))},
                        count.weight});
  }
  layer.form = shared_form(products, target_of(layer), *mode.own.catalog);
  return layer;
}

std::string why_dense(double dense_bytes, const std::vector<PlannedKernel>& kernels) {
  const std::string larger = why_larger(dense_bytes, kernels);
  return larger.empty() ? why_slower(kernels) : larger;
}

std::string why_dense(const std::string& tensor, double dense_bytes, const std::vector<PlannedKernel>& kernels,
                      const ModelRequest& request) {
  if (request.all || !request.tensors.empty() || exception_for(tensor, request) != nullptr) {
    return "";
  }
  const std::string why = why_dense(dense_bytes, kernels);
  return why.empty() ? "" : "stays dense: " + why + " (--all makes it)";
}

}  // namespace esc
