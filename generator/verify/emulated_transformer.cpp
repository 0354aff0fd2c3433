#include "generator/verify/emulated_transformer.h"

#include "generator/emulate/compile_program.h"
#include "generator/emulate/registered_buffer.h"

namespace esc {
namespace {

constexpr int stopped_by_fault = -1;

/// Trips around loops that one call may make: many for each element of the matrix, and those of checksums and tables.
EmulationOptions options_for(const SparseMatrix& matrix) {
  EmulationOptions options;
  options.host_steps =
      (std::int64_t{1} << 28) + 1024 * (matrix.nonzeros() + matrix.rows) + 64 * matrix.rows * matrix.columns;
  return options;
}

}  // namespace

EmulatedTransformer::EmulatedTransformer(const std::string& text, const std::string& name, const SparseMatrix& matrix)
    : name_(name),
      matrix_(matrix),
      program_(compile_host(text, name + "_transformer.cpp")),
      device_(options_for(matrix)) {
  packed_bytes_ = device_.call<std::size_t()>(program_, name_ + "_packed_bytes").value_or(0);
}

TransformerFunctions EmulatedTransformer::functions() {
  return {[this] { return packed_bytes_; },
          [this](const void* a, std::int64_t lda, void* packed) { return transform(a, lda, packed); },
          [this](const std::int32_t* offsets, const std::int32_t* columns, const void* values, void* packed) {
            return transform_csr(offsets, columns, values, packed);
          },
          [this] { return error(); }};
}

int EmulatedTransformer::transform(const void* a, std::int64_t lda, void* packed) {
  const auto element_bytes = static_cast<std::size_t>(bytes_of(matrix_.element));
  const RegisteredBuffer in(device_, "a", a, static_cast<std::size_t>(matrix_.rows * lda) * element_bytes,
                            BufferUse::input().on_host());
  const RegisteredBuffer out(device_, "packed", packed, packed_bytes_, BufferUse::output().on_host());
  return device_.call<int(const void*, std::int64_t, void*)>(program_, name_ + "_transform", a, lda, packed)
      .value_or(stopped_by_fault);
}

int EmulatedTransformer::transform_csr(const std::int32_t* offsets, const std::int32_t* columns, const void* values,
                                       void* packed) {
  const auto entries = static_cast<std::size_t>(matrix_.nonzeros());
  const auto rows = static_cast<std::size_t>(matrix_.rows);
  const auto element_bytes = static_cast<std::size_t>(bytes_of(matrix_.element));
  const BufferUse input = BufferUse::input().on_host();
  const RegisteredBuffer in_offsets(device_, "offsets", offsets, (rows + 1) * sizeof(std::int32_t), input);
  const RegisteredBuffer in_columns(device_, "columns", columns, entries * sizeof(std::int32_t), input);
  const RegisteredBuffer in_values(device_, "values", values, entries * element_bytes, input);
  const RegisteredBuffer out(device_, "packed", packed, packed_bytes_, BufferUse::output().on_host());
  return device_
      .call<int(const std::int32_t*, const std::int32_t*, const void*, void*)>(program_, name_ + "_transform_csr",
                                                                                offsets, columns, values, packed)
      .value_or(stopped_by_fault);
}

std::string EmulatedTransformer::error() {
  const auto text = device_.call<const char*()>(program_, name_ + "_transform_error");
  return text ? std::string(*text) : "it does not return";
}

}  // namespace esc
