// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/emulated_transformer.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "generator/emulate/compile_program.h"
#include "generator/emulate/registered_buffer.h"

namespace esc {
namespace {

constexpr const char* path_of_file = "packed";

/// Trips around loops that one call may make: thousands for each element of the matrix, as the search for slots looks
/// at every column of a K tile for each of its changes, and those of checksums and tables.
EmulationOptions options_for(const MatrixShape& matrix) {
  EmulationOptions options;
  options.host_steps =
      (std::int64_t{1} << 28) + 1024 * (matrix.nonzeros + matrix.rows) + 4096 * matrix.rows * matrix.columns;
  return options;
}

}  // namespace

/// The arrays of one call, known to the device while this lives. One that is null is not there.
class EmulatedTransformer::Arrays {
 public:
  explicit Arrays(EmulatedDevice& device) : device_(device) {}
  void add(const char* name, const void* memory, std::int64_t bytes, BufferUse use) {
    if (memory != nullptr) {
      arrays_.push_back(std::make_unique<RegisteredBuffer>(
          device_, name, memory, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 0)), use.on_host()));
    }
  }

 private:
  EmulatedDevice& device_;
  std::vector<std::unique_ptr<RegisteredBuffer>> arrays_;
};

EmulatedTransformer::EmulatedTransformer(const std::string& text, const std::string& name, const MatrixShape& matrix,
                                         bool any_pattern, Watched watched)
    : name_(name),
      matrix_(matrix),
      any_pattern_(any_pattern),
      program_(compile_host(text, name + "_transformer.cpp", {}, watched)),
      device_(options_for(matrix)) {
  packed_bytes_ = device_.call<std::size_t()>(program_, name_ + "_packed_bytes").value_or(0);
}

TransformerFunctions EmulatedTransformer::functions() {
  using Indices = const std::int32_t*;
  TransformerFunctions functions{
      [this] { return packed_bytes_; },
      [this](const void* a, std::int64_t lda, void* packed) { return transform(Dense{a, lda}, packed); },
      [this](Indices offsets, Indices columns, const void* values, void* packed) {
        return transform(Csr{offsets, columns, values}, packed);
      },
      [this](const PackedFile& file, void* packed) { return load(file, packed); }, [this] { return error(); }};
  if (any_pattern_) {
    functions.bytes_for = [this](const void* a, std::int64_t lda) { return bytes_for(Dense{a, lda}); };
    functions.bytes_for_csr = [this](Indices offsets, Indices columns, const void* values) {
      return bytes_for(Csr{offsets, columns, values});
    };
    functions.transform_into = [this](const void* a, std::int64_t lda, void* packed, std::size_t bytes) {
      return transform_into(Dense{a, lda}, packed, bytes);
    };
    functions.transform_csr_into = [this](Indices offsets, Indices columns, const void* values, void* packed,
                                          std::size_t bytes) {
      return transform_into(Csr{offsets, columns, values}, packed, bytes);
    };
  }
  return functions;
}

void EmulatedTransformer::add(Arrays& arrays, const Dense& matrix) const {
  // The last row ends with its last element, whatever the leading dimension.
  arrays.add("a", matrix.a, ((matrix_.rows - 1) * matrix.lda + matrix_.columns) * bytes_of(matrix_.element),
             BufferUse::input());
}

void EmulatedTransformer::add(Arrays& arrays, const Csr& matrix) const {
  constexpr std::int64_t index_bytes = sizeof(std::int32_t);
  const std::int64_t entries = matrix.offsets == nullptr ? 0 : matrix.offsets[matrix_.rows];
  arrays.add("offsets", matrix.offsets, (matrix_.rows + 1) * index_bytes, BufferUse::input());
  arrays.add("columns", matrix.columns, entries * index_bytes, BufferUse::input());
  arrays.add("values", matrix.values, entries * bytes_of(matrix_.element), BufferUse::input());
}

int EmulatedTransformer::transform(const Dense& matrix, void* packed) {
  Arrays arrays(device_);
  add(arrays, matrix);
  arrays.add("packed", packed, static_cast<std::int64_t>(packed_bytes_), BufferUse::output());
  return device_
      .call<int(const void*, std::int64_t, void*)>(program_, name_ + "_transform", matrix.a, matrix.lda, packed)
      .value_or(stopped_by_fault);
}

int EmulatedTransformer::transform(const Csr& matrix, void* packed) {
  Arrays arrays(device_);
  add(arrays, matrix);
  arrays.add("packed", packed, static_cast<std::int64_t>(packed_bytes_), BufferUse::output());
  return device_
      .call<int(const std::int32_t*, const std::int32_t*, const void*, void*)>(
          program_, name_ + "_transform_csr", matrix.offsets, matrix.columns, matrix.values, packed)
      .value_or(stopped_by_fault);
}

int EmulatedTransformer::transform_into(const Dense& matrix, void* packed, std::size_t bytes) {
  Arrays arrays(device_);
  add(arrays, matrix);
  arrays.add("packed", packed, static_cast<std::int64_t>(bytes), BufferUse::output());
  return device_
      .call<int(const void*, std::int64_t, void*, std::size_t)>(program_, name_ + "_transform_into", matrix.a,
                                                                matrix.lda, packed, bytes)
      .value_or(stopped_by_fault);
}

int EmulatedTransformer::transform_into(const Csr& matrix, void* packed, std::size_t bytes) {
  Arrays arrays(device_);
  add(arrays, matrix);
  arrays.add("packed", packed, static_cast<std::int64_t>(bytes), BufferUse::output());
  return device_
      .call<int(const std::int32_t*, const std::int32_t*, const void*, void*, std::size_t)>(
          program_, name_ + "_transform_csr_into", matrix.offsets, matrix.columns, matrix.values, packed, bytes)
      .value_or(stopped_by_fault);
}

std::size_t EmulatedTransformer::bytes_for(const Dense& matrix) {
  Arrays arrays(device_);
  add(arrays, matrix);
  return device_.call<std::size_t(const void*, std::int64_t)>(program_, name_ + "_bytes_for", matrix.a, matrix.lda)
      .value_or(0);
}

std::size_t EmulatedTransformer::bytes_for(const Csr& matrix) {
  Arrays arrays(device_);
  add(arrays, matrix);
  return device_
      .call<std::size_t(const std::int32_t*, const std::int32_t*, const void*)>(
          program_, name_ + "_bytes_for_csr", matrix.offsets, matrix.columns, matrix.values)
      .value_or(0);
}

int EmulatedTransformer::load(const PackedFile& file, void* packed) {
  std::optional<std::vector<std::byte>> contents;
  if (file.path == PackedFile::Path::file) {
    contents.emplace(file.contents.begin(), file.contents.end());
  }
  device_.set_files({{path_of_file, std::move(contents)}});
  Arrays arrays(device_);
  arrays.add("packed", packed, static_cast<std::int64_t>(packed_bytes_), BufferUse::update());
  const char* const path = file.path == PackedFile::Path::null ? nullptr : path_of_file;
  return device_.call<int(const char*, void*)>(program_, name_ + "_load", path, packed).value_or(stopped_by_fault);
}

std::string EmulatedTransformer::error() {
  const auto text = device_.call<const char*()>(program_, name_ + "_transform_error");
  return text ? std::string(*text) : "it does not return";
}

}  // namespace esc
