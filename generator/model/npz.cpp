// SPDX-License-Identifier: Apache-2.0
#include "generator/model/npz.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "generator/matrix/npy_header.h"
#include "generator/matrix/text_scanner.h"
#include "generator/model/assemble_weights.h"
#include "generator/model/tensor_name.h"
#include "generator/model/zip_member_source.h"
#include "generator/support/error.h"
#include "generator/support/limits.h"

namespace esc {
namespace {

constexpr std::string_view array_ending = ".npy";

using Arrays = std::map<std::string, StoredTensor>;

/// SciPy's word for the format is a text of bytes, for which safetensors has no type.
const TensorType* text_type(const std::string& type) {
  static const TensorType text{"text", 8, {}};
  return type == "|S3" ? &text : nullptr;
}

StoredTensor read_array(const std::shared_ptr<const StoredBytes>& file, const ZipMember& member) {
  const std::string name = member.name.substr(0, member.name.size() - array_ending.size());
  const std::string place = file->name() + ":" + name;
  ZipMemberSource source(file, member, place, 0);
  const NpyArray array = read_npy_array(source);
  const TensorType* type = text_type(array.type) != nullptr ? text_type(array.type) : numpy_tensor_type(array.type);
  if (type == nullptr) {
    refuse_at_byte(source, array.type_at, fmt::format("the element type {} is not known", in_quotes(array.type)),
                   "convert the array: a.astype('<f4')");
  }
  const std::uint64_t element_bytes = type->bytes() * (text_type(array.type) != nullptr ? 3 : 1);
  const std::optional<std::uint64_t> elements = element_count(array.shape);
  if (!elements || *elements > std::numeric_limits<std::uint64_t>::max() / element_bytes ||
      *elements * element_bytes != member.size - array.data_begin) {
    refuse_at_byte(source, array.shape_at,
                   fmt::format("{} bytes follow the header, which is not the size of {} elements of {} bytes",
                               member.size - array.data_begin, shape_text(array.shape), element_bytes),
                   "the file is damaged: write it again");
  }
  return {.name = name,
          .type = type,
          .shape = array.shape,
          .is_fortran_order = array.is_fortran_order && array.shape.size() > 1,
          .file = file,
          .member = member,
          .skipped = array.data_begin};
}

const StoredTensor& part(const Arrays& arrays, const std::string& name) {
  const auto found = arrays.find(name);
  if (found == arrays.end()) {
    const StoredTensor& format = arrays.at("format");
    throw UserError(format.file->name(), fmt::format("lacks the array {} of a sparse matrix of SciPy", in_quotes(name)),
                    save_matrix_again);
  }
  return found->second;
}

WeightForm form_of(const StoredTensor& format) {
  static const std::map<std::string, WeightForm> forms{{"csr", WeightForm::csr},
                                                       {"csc", WeightForm::csc},
                                                       {"bsr", WeightForm::bsr},
                                                       {"coo", WeightForm::coo},
                                                       {"dia", WeightForm::dia}};
  std::string word(3, '\0');
  if (format.elements() == 1 && format.type->name == std::string_view("text")) {
    open_tensor(format)->read(std::as_writable_bytes(std::span(word)));
  }
  if (const auto found = forms.find(word); found != forms.end()) {
    return found->second;
  }
  refuse_element(format, 0, fmt::format("the format {} is none of csr, csc, bsr, coo and dia", in_quotes(word)),
                 save_matrix_again);
}

std::vector<std::int64_t> shape_of(const StoredTensor& shape) {
  std::array<std::int64_t, 2> extents{};
  if (shape.elements() != 2 || (shape.type != tensor_type("I64") && shape.type != tensor_type("I32"))) {
    refuse_element(shape, 0,
                   fmt::format("is {} of {}, where the shape of a matrix is two whole numbers", shape_text(shape.shape),
                               shape.type->name),
                   save_matrix_again);
  }
  const auto source = open_tensor(shape);
  for (std::size_t index = 0; index < extents.size(); ++index) {
    if (shape.type == tensor_type("I32")) {
      std::int32_t narrow = 0;
      source->read(std::as_writable_bytes(std::span(&narrow, 1)));
      extents[index] = narrow;
    } else {
      source->read(std::as_writable_bytes(std::span(&extents[index], 1)));
    }
    if (extents[index] < 1 || extents[index] > largest_dimension) {
      refuse_element(shape, index, fmt::format("an extent of {} is outside 1 to 2^31 - 1", extents[index]),
                     "save a matrix that has rows and columns");
    }
  }
  return {extents.begin(), extents.end()};
}

Weight scipy_weight(const Arrays& arrays) {
  Weight weight{.name = "matrix", .form = form_of(part(arrays, "format")), .shape = shape_of(part(arrays, "shape"))};
  static const std::map<WeightForm, std::vector<std::string>> parts{{WeightForm::csr, {"data", "indices", "indptr"}},
                                                                    {WeightForm::csc, {"data", "indices", "indptr"}},
                                                                    {WeightForm::bsr, {"data", "indices", "indptr"}},
                                                                    {WeightForm::coo, {"data", "row", "col"}},
                                                                    {WeightForm::dia, {"data", "offsets"}}};
  for (const std::string& name : parts.at(weight.form)) {
    weight.parts.push_back(part(arrays, name));
  }
  weight.type = weight.parts.front().type;
  return weight;
}

}  // namespace

std::vector<Weight> read_npz(const std::shared_ptr<const StoredBytes>& file) {
  Arrays arrays;
  for (const ZipMember& member : read_zip_directory(*file)) {
    if (!member.name.ends_with(array_ending) || member.name.size() == array_ending.size()) {
      throw UserError(file->name(), fmt::format("has the member {}, which is no array", in_quotes(member.name)),
                      "write it with numpy.savez or scipy.sparse.save_npz");
    }
    StoredTensor array = read_array(file, member);
    const std::string name = array.name;
    arrays.emplace(name, std::move(array));
  }
  if (arrays.contains("format") && arrays.contains("shape") && arrays.contains("data")) {
    return {scipy_weight(arrays)};
  }
  std::vector<StoredTensor> tensors;
  for (auto& [name, array] : arrays) {
    tensors.push_back(std::move(array));
  }
  return assemble_weights(std::move(tensors));
}

}  // namespace esc
