// SPDX-License-Identifier: Apache-2.0
#include "generator/model/layer_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "generator/matrix/matrix_reader.h"
#include "generator/matrix/npy_header.h"
#include "generator/model/foreign_file.h"
#include "generator/model/model.h"
#include "generator/support/error.h"

namespace esc {
namespace {

bool is_of_model(const LayerFile& layer) {
  if (!layer.tensor.empty()) {
    return true;
  }
  // A folder is no layer, though it may be a model: the message that a matrix's reader has for it is the right one.
  std::error_code ignored;
  return is_model(layer.path) && !std::filesystem::is_directory(layer.path, ignored);
}

/// Refuses what is neither a matrix nor a model.
void check_ending(const std::string& path) {
  refuse_foreign_file(path);
  if (const std::string ending = lower_case_ending(path); !has_matrix_ending(path)) {
    throw UserError(path,
                    ending.empty() ? "has no ending that names a matrix format"
                                   : fmt::format("the ending {} is not a matrix format that can be read", ending),
                    fmt::format("give a {}", layer_endings));
  }
}

std::optional<ScalarType> type_of(std::optional<StoredElement> element) {
  if (!element) {
    return std::nullopt;
  }
  switch (*element) {
    case StoredElement::float64:
      return ScalarType::f64;
    case StoredElement::float32:
      return ScalarType::f32;
    case StoredElement::float16:
      return ScalarType::f16;
    case StoredElement::bfloat16:
      break;
  }
  return ScalarType::bf16;
}

}  // namespace

LayerFile parse_layer_file(const std::string& name) {
  static constexpr std::array<std::string_view, 3> endings{".safetensors:", ".safetensors.index.json:", ".npz:"};
  std::string lower = name;
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  std::size_t colon = name.npos;
  for (const std::string_view ending : endings) {
    if (const std::size_t at = lower.find(ending); at != lower.npos) {
      colon = std::min(colon, at + ending.size() - 1);
    }
  }
  return colon == name.npos ? LayerFile{name, {}} : LayerFile{name.substr(0, colon), name.substr(colon + 1)};
}

SparseMatrix read_layer(const std::string& name, const ReadOptions& options, StageProgress& progress) {
  const LayerFile layer = parse_layer_file(name);
  if (is_of_model(layer)) {
    return read_weight(find_weight(open_model(layer.path), layer.tensor), options, progress);
  }
  check_ending(layer.path);
  return read_matrix(layer.path, options, progress);
}

std::vector<std::int64_t> read_layer_shape(const std::string& name) {
  const LayerFile layer = parse_layer_file(name);
  if (!is_of_model(layer)) {
    check_ending(layer.path);
    return read_weight_shape(layer.path);
  }
  const std::vector<std::int64_t> shape = find_weight(open_model(layer.path), layer.tensor).shape;
  return is_filter(shape) ? shape : std::vector<std::int64_t>();
}

std::optional<ScalarType> stored_type(const Weight& weight) { return type_of(weight.type->element); }

std::optional<ScalarType> stored_type(const std::string& name) {
  const LayerFile layer = parse_layer_file(name);
  if (is_of_model(layer)) {
    return stored_type(find_weight(open_model(layer.path), layer.tensor));
  }
  if (lower_case_ending(layer.path) != ".npy") {
    return std::nullopt;
  }
  FileSource source(layer.path);
  return type_of(stored_element(read_npy_array(source).type));
}

}  // namespace esc
