// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/packed_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "generator/patterns/unpacked_matrix.h"
#include "generator/support/error.h"

namespace esc {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& place, const std::string& rule) {
  throw UserError(place.string(), rule, "generate the bundle again", ExitStatus::check_failed);
}

}  // namespace

PackedModel::PackedModel(const std::filesystem::path& folder, ScalarType element)
    : path_(folder / packed_file_name), stream_(path_, std::ios::binary), element_(element) {
  if (!stream_) {
    throw UserError(path_.string(), "cannot be read", "write it with escgen pack, from the model's weights");
  }
}

void PackedModel::check(const ModelBundle& model) {
  std::error_code ignored;
  const std::vector<transformer::ModelEntry> index = index_of(model.layers);
  const std::uint64_t index_bytes = index.size() * sizeof(transformer::ModelEntry);
  if (std::filesystem::file_size(path_, ignored) != model.file_bytes ||
      model.file_bytes < transformer::header_bytes + index_bytes) {
    refuse(path_, fmt::format("has not the {} bytes that the manifest says", model.file_bytes));
  }
  const transformer::ModelHeader header =
      transformer::make_model_header(index.data(), index.size(), model.file_bytes - index_bytes);
  if (!std::ranges::equal(read(0, sizeof header), std::as_bytes(std::span(&header, 1))) ||
      !std::ranges::equal(read(model.file_bytes - index_bytes, index_bytes), std::as_bytes(std::span(index)))) {
    refuse(path_, "has another header or index than the manifest says");
  }
}

SparseMatrix PackedModel::matrix_of(const ModelLayer& layer, std::size_t packing) {
  const transformer::ModelEntry& entry = layer.packings[packing];
  try {
    SparseMatrix matrix = unpacked_matrix(transformer::unpack(read(entry.offset, entry.bytes)), element_);
    if (fingerprint(matrix) != layer.fingerprint) {
      refuse(path_,
             fmt::format("does not hold the matrix of {} that the manifest says: a SHA-256 differs", layer.name));
    }
    return matrix;
  } catch (const transformer::FormatError& problem) {
    refuse(path_, fmt::format("{}: {}", layer.name, problem.what()));
  }
}

std::vector<std::byte> PackedModel::read(std::uint64_t at, std::uint64_t bytes) {
  std::vector<std::byte> content(bytes);
  stream_.seekg(static_cast<std::streamoff>(at));
  stream_.read(reinterpret_cast<char*>(content.data()), static_cast<std::streamsize>(bytes));
  if (!stream_) {
    refuse(path_, "is too short");
  }
  return content;
}

}  // namespace esc
