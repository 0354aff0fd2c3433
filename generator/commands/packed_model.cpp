// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/packed_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "generator/matrix/statistics.h"
#include "generator/patterns/unpacked_matrix.h"
#include "generator/support/error.h"
#include "generator/support/limits.h"

namespace esc {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& place, const std::string& rule) {
  throw UserError(place.string(), rule, "generate the bundle again", ExitStatus::check_failed);
}

/// The file in the folder of a bundle, which may have been copied without it.
std::filesystem::path with_packed(const std::filesystem::path& folder) {
  std::error_code ignored;
  const std::filesystem::path path = folder / packed_file_name;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) {
    throw UserError(path.string(), "cannot be read", "write it with escgen pack, from the model's weights");
  }
  return path;
}

}  // namespace

PackedModel::PackedModel(const std::filesystem::path& folder, ScalarType element)
    : path_(with_packed(folder)), file_(path_, "packed matrices", FileOf::bundle), element_(element) {}

void PackedModel::check(const ModelBundle& model) {
  const std::vector<transformer::ModelEntry> index = index_of(model.layers);
  const std::uint64_t index_bytes = index.size() * sizeof(transformer::ModelEntry);
  if (file_.size() != model.file_bytes || model.file_bytes < transformer::header_bytes + index_bytes) {
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
  if (entry.bytes > most_packed_bytes(csr_bytes(layer.rows, layer.nonzeros, element_))) {
    refuse(path_, fmt::format("has {} bytes of {}, more than a matrix of the manifest's is packed into", entry.bytes,
                              layer.name));
  }
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

std::vector<std::byte> PackedModel::read(std::uint64_t at, std::uint64_t bytes) const {
  if (at > file_.size() || bytes > file_.size() - at) {
    refuse(path_, "is too short");
  }
  std::vector<std::byte> content(bytes);
  file_.read_at(at, content);
  return content;
}

}  // namespace esc
