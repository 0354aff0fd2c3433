// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/model/tensor.h"

namespace esc {

/// How a weight is put together from tensors.
enum class WeightForm {
  plain,     ///< one tensor
  masked,    ///< values and masks of torch.nn.utils.prune or torch.ao.pruning (masked_names.h): zero where a mask is
  bitmask,   ///< NAME.shape, .compressed, .bitmask and .row_offsets of compressed-tensors' sparse-bitmask
  two_four,  ///< the same without offsets, two non-zeros of four: its sparse-24-bitmask
  csr,       ///< a matrix of scipy.sparse.save_npz: data, indices, indptr
  csc,
  bsr,
  coo,  ///< data, row, col
  dia   ///< data, offsets
};

/// What keeps a weight from being a matrix that a kernel is made for, and what its user may do.
struct Obstacle {
  std::string rule;  ///< "is quantised (I8 with weight_scale)"
  std::string remedy;
  bool hides_layer = false;  ///< the model has a layer there that cannot be read, rather than something that is none
};

/// One slice of a tensor of three dimensions: the expert of this number.
struct Expert {
  std::int64_t number = 0;
  std::int64_t count = 0;
  bool is_transposed = false;  ///< the tensor has it as in x out
};

/// One array of a model, as its user knows it.
struct Weight {
  std::string name;
  WeightForm form = WeightForm::plain;
  const TensorType* type = nullptr;
  std::vector<std::int64_t> shape = {};
  std::vector<StoredTensor> parts = {};  ///< what it is made of, in the order of the forms' words
  std::optional<Expert> expert = {};
  std::optional<Obstacle> obstacle = {};  ///< that its name and the tensors around it are

  /// What messages call it: "model.safetensors:encoder.weight".
  std::string place() const { return parts.front().file->name() + ":" + name; }
  /// Rows and columns of the matrix that it is, three to five dimensions as out x (in * kd * kh * kw).
  std::int64_t rows() const { return shape.front(); }
  std::int64_t columns() const;
  /// Bytes of its tensors in the file.
  std::uint64_t stored_bytes() const;
};

/// "plain", "masked", "sparse-bitmask", ...
const char* name_of(WeightForm form);

/// Whether SciPy has written it.
constexpr bool is_scipy(WeightForm form) { return form >= WeightForm::csr; }

/// Whether a weight of this shape is that of a convolution: out x in x kw, x kh x kw or x kd x kh x kw.
constexpr bool is_filter(const std::vector<std::int64_t>& shape) { return shape.size() >= 3 && shape.size() <= 5; }

/// What keeps the weight from being a matrix that a kernel can be made for.
std::optional<Obstacle> obstacle_of(const Weight& weight);
/// Whether a layer of the model is there that cannot be read.
bool hides_layer(const Weight& weight);
/// The obstacle's rule; empty where the weight is a matrix.
std::string why_no_matrix(const Weight& weight);

/// The same weight with rows as columns. Throws UserError for forms that are not stored element by element.
Weight transposed(Weight weight);

}  // namespace esc
