// SPDX-License-Identifier: Apache-2.0
#include "generator/model/layer_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "generator/matrix/matrix_reader.h"
#include "generator/matrix/npy_header.h"
#include "generator/model/model.h"
#include "generator/model/pickle.h"
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
  refuse_pickle(path);
  if (const std::string ending = lower_case_ending(path); !has_matrix_ending(path)) {
    throw UserError(path,
                    ending.empty() ? "has no ending that names a matrix format"
                                   : fmt::format("the ending {} is not a matrix format that can be read", ending),
                    fmt::format("give a {}", layer_endings));
  }
}

std::optional<ScalarType> half_type_of(std::optional<StoredElement> element) {
  return element == StoredElement::float16    ? std::optional(ScalarType::f16)
         : element == StoredElement::bfloat16 ? std::optional(ScalarType::bf16)
                                              : std::nullopt;
}

}  // namespace

LayerFile parse_layer_file(const std::string& name) {
  static constexpr std::array<std::string_view, 3> endings{".safetensors:", ".safetensors.index.json:", ".npz:"};
  std::string lower = name;
  std::ranges::transform(lower, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
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
  const Model model = open_model(layer.path);
  const std::vector<std::int64_t>& shape = find_weight(model, layer.tensor).shape;
  return shape.size() == 4 ? shape : std::vector<std::int64_t>();
}

std::optional<ScalarType> half_type(const std::string& name) {
  const LayerFile layer = parse_layer_file(name);
  if (is_of_model(layer)) {
    const Model model = open_model(layer.path);
    return half_type_of(find_weight(model, layer.tensor).type->element);
  }
  if (lower_case_ending(layer.path) != ".npy") {
    return std::nullopt;
  }
  FileSource source(layer.path);
  return half_type_of(stored_element(read_npy_array(source).type));
}

}  // namespace esc
