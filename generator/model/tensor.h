// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/matrix/dense_reader.h"
#include "generator/model/stored_bytes.h"
#include "generator/model/zip_archive.h"

namespace esc {

/// A type that elements of a tensor have, under the name that safetensors files give it.
struct TensorType {
  const char* name;                      ///< "BF16"
  int bits;                              ///< of an element
  std::optional<StoredElement> element;  ///< for floats that a matrix is read from

  std::uint64_t bytes() const { return static_cast<std::uint64_t>(bits) / 8; }
};

/// The type of this name; none for another one.
const TensorType* tensor_type(std::string_view name);
/// The same by NumPy's name for it, such as "<f4".
const TensorType* numpy_tensor_type(std::string_view name);

/// A tensor as a file has it.
struct StoredTensor {
  std::string name;
  const TensorType* type = nullptr;
  std::vector<std::int64_t> shape;
  bool is_fortran_order = false;  ///< the first index runs fastest, not the last
  std::shared_ptr<const StoredBytes> file;
  std::uint64_t begin = 0;  ///< where it lies in the file
  std::uint64_t end = 0;
  std::optional<ZipMember> member = {};  ///< of an archive, which it is packed in
  std::uint64_t skipped = 0;             ///< bytes of the member before the first element

  std::uint64_t elements() const;
  /// What messages call it: "model.safetensors:encoder.weight".
  std::string place() const { return file->name() + ":" + name; }
};

/// The bytes of the tensor, after those that are to be skipped.
std::unique_ptr<ByteSource> open_tensor(const StoredTensor& tensor);

// Remedies for tensors that are not as they should be.
inline constexpr const char* save_model_again = "save the model again";
inline constexpr const char* save_matrix_again = "save the matrix again with scipy.sparse.save_npz";

/// Refuses the tensor at one of its elements, or at a byte of its member, as `index` counts.
[[noreturn]] void refuse_element(const StoredTensor& tensor, std::uint64_t index, const std::string& rule,
                                 const std::string& remedy);

/// "4096 x 11008".
std::string shape_text(const std::vector<std::int64_t>& shape);

/// The number of elements of the shape; none where it does not fit 63 bits or an extent is negative.
std::optional<std::uint64_t> element_count(const std::vector<std::int64_t>& shape);

}  // namespace esc
