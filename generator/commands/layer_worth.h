// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "generator/commands/model_request.h"
#include "generator/model/survey.h"
#include "generator/model/weight.h"
#include "generator/schedule/dense_comparison.h"

namespace esc {

/// What is known of a layer's kernel for a number of columns of B before it is made.
struct PlannedKernel {
  std::int64_t bcol = 0;
  double bytes = 0;                             ///< of the packed matrix, about
  std::optional<MeasuredRatios> measured = {};  ///< over libraries, on the device that it is made for
  std::optional<DenseComparison> beside_dense = {};
  double weight = 1;  ///< of the number of columns
};

/// Whether tensors of a model are asked for: by --tensor, where there is one.
bool is_asked_for(const std::string& tensor, const ModelRequest& request);

/// Whether an exception is for the tensor.
bool is_meant(const std::string& tensor, const LayerException& exception);

/// What holds for this layer alone; null where nothing does.
const LayerException* exception_for(const std::string& tensor, const ModelRequest& request);

/// Why a tensor gets no kernel whatever its values are; empty where it may get one.
std::string why_no_layer(const Weight& weight, const ModelRequest& request);

/// Why it gets none with these values; empty where it may get one.
std::string why_not_sparse(const WeightSurvey& survey, double sparsity, const ModelRequest& request);

/// The share of zeros of a weight.
double sparsity_of(const Weight& weight, const WeightSurvey& survey);

/// Bytes of the weight as a dense matrix of the nest's elements.
double dense_bytes(const Weight& weight, const LoopNest& nest);

/// Sizes of a layer of a model, and how many of its elements are not zero.
struct LayerExtent {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t nonzeros = 0;
  bool sparse24 = false;  ///< whether of four neighbours in a row two at most are not zero
};

/// The request for a layer that is made for these numbers of columns: auto is told the form in which one packed matrix
/// serves them all, the one that is expected to take the least time, by weight. Left as it is for one number of
/// columns, and where the user names schedules, measurements (--database) or the bytes that several packed matrices may
/// have (--max-packed).
LayerRequest with_one_form(LayerRequest layer, const std::vector<TokenCount>& counts, const GenerateMode& mode,
                           const LayerExtent& extent, const LoopNest& nest);

/// Why the layer is better left dense: its packed matrix is larger than the dense one for each number of columns by
/// itself, or products, summed by weight over the numbers of columns of which that is known, are slower. Empty where a
/// kernel is worth it.
std::string why_dense(double dense_bytes, const std::vector<PlannedKernel>& kernels);

/// The same, where nobody has asked for the layer all the same: by --all, --tensor or an exception of a spec.
std::string why_dense(const std::string& tensor, double dense_bytes, const std::vector<PlannedKernel>& kernels,
                      const ModelRequest& request);

}  // namespace esc
