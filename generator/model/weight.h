// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "generator/model/tensor.h"

namespace esc {

/// How a weight is put together from tensors.
enum class WeightForm {
  plain,    ///< one tensor
  masked,   ///< NAME_orig and NAME_mask of torch.nn.utils.prune: zero where the mask is
  bitmask,  ///< NAME.shape, .compressed, .bitmask and .row_offsets of compressed-tensors' sparse-bitmask
  two_four, ///< the same without offsets, two non-zeros of four: its sparse-24-bitmask
  csr,      ///< a matrix of scipy.sparse.save_npz: data, indices, indptr
  csc,
  bsr,
  coo,      ///< data, row, col
  dia       ///< data, offsets
};

/// One array of a model, as its user knows it.
struct Weight {
  std::string name;
  WeightForm form = WeightForm::plain;
  const TensorType* type = nullptr;
  std::vector<std::int64_t> shape = {};
  std::vector<StoredTensor> parts = {};  ///< what it is made of, in the order of the forms' words

  /// What messages call it: "model.safetensors:encoder.weight".
  std::string place() const { return parts.front().file->name() + ":" + name; }
  /// Rows and columns of the matrix that it is, four dimensions as out x (in * kh * kw).
  std::int64_t rows() const { return shape.front(); }
  std::int64_t columns() const;
  /// Bytes of its tensors in the file.
  std::uint64_t stored_bytes() const;
};

/// "plain", "masked", "sparse-bitmask", ...
const char* name_of(WeightForm form);

/// Whether SciPy has written it.
constexpr bool is_scipy(WeightForm form) { return form >= WeightForm::csr; }

/// Why the weight is no matrix that a kernel can be made for; empty where it is one.
std::string why_no_matrix(const Weight& weight);

/// The weights that some tensors are, in the order of their names, numbers as numbers. Throws UserError, with the tensor's name and the byte, for parts that do
/// not fit together and for two weights of one name.
std::vector<Weight> assemble_weights(std::vector<StoredTensor> tensors);

}  // namespace esc
