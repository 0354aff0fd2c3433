#include "tests/support/emulated_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>

#include "generator/emit/sources.h"
#include "generator/emulate/device.h"
#include "generator/emulate/registered_buffer.h"
#include "generator/frontend/format_source.h"
#include "generator/verify/transformer_check.h"

namespace esc::tests {
namespace {

constexpr const char* layer_name = "layer";
constexpr int stopped_by_fault = -1;
constexpr std::int64_t most_dense_elements = 1 << 20;

/// The functions of a transformer's text, run with the caller's arrays as the only memory that they may touch.
TransformerFunctions emulated(EmulatedDevice& device, const HostProgram& program, const std::string& name,
                              const SparseMatrix& matrix) {
  const auto packed_bytes = [&device, &program, name] {
    return device.call<std::size_t()>(program, name + "_packed_bytes").value_or(0);
  };
  const auto transform = [&device, &program, name, &matrix, packed_bytes](const float* a, std::int64_t lda,
                                                                          void* packed) {
    const RegisteredBuffer in(device, "a", a, static_cast<std::size_t>(matrix.rows * lda) * sizeof(float),
                              BufferUse::input().on_host());
    const RegisteredBuffer out(device, "packed", packed, packed_bytes(), BufferUse::output().on_host());
    return device.call<int(const float*, std::int64_t, void*)>(program, name + "_transform", a, lda, packed)
        .value_or(stopped_by_fault);
  };
  const auto transform_csr = [&device, &program, name, &matrix, packed_bytes](const std::int32_t* offsets,
                                                                              const std::int32_t* columns,
                                                                              const float* values, void* packed) {
    const auto entries = static_cast<std::size_t>(matrix.nonzeros());
    const auto rows = static_cast<std::size_t>(matrix.rows);
    const BufferUse input = BufferUse::input().on_host();
    const RegisteredBuffer in_offsets(device, "offsets", offsets, (rows + 1) * sizeof(std::int32_t), input);
    const RegisteredBuffer in_columns(device, "columns", columns, entries * sizeof(std::int32_t), input);
    const RegisteredBuffer in_values(device, "values", values, entries * sizeof(float), input);
    const RegisteredBuffer out(device, "packed", packed, packed_bytes(), BufferUse::output().on_host());
    return device
        .call<int(const std::int32_t*, const std::int32_t*, const float*, void*)>(program, name + "_transform_csr",
                                                                                  offsets, columns, values, packed)
        .value_or(stopped_by_fault);
  };
  const auto transform_error = [&device, &program, name] {
    const auto text = device.call<const char*()>(program, name + "_transform_error");
    return text ? std::string(*text) : "it does not return";
  };
  return {packed_bytes, transform, transform_csr, transform_error};
}

std::string first_problem(const EmulatedDevice& device, int status) {
  if (!device.faults().empty()) {
    return device.faults().front().message;
  }
  return status == 0 ? "" : fmt::format("the launch returns error {}", status);
}

}  // namespace

GeneratedLayer layer_of(const SparseMatrix& matrix, std::int64_t bcol, const Schedule& schedule,
                        std::uint32_t max_list_columns) {
  return generate_layer(matrix, spmm_nest(),
                        {.name = layer_name,
                         .source_file = "layer.mtx",
                         .bcol = bcol,
                         .architectures = {80},
                         .choice = {schedule, "user"},
                         .max_list_columns = max_list_columns});
}

std::string kernel_text(const GeneratedLayer& generated) {
  return format_source(kernel_source(generated.layer), generated.layer.name + ".cu");
}

std::string print(const JudgedProduct& judged) {
  return fmt::format("{}{}error {:.3g}, at most {:.3g}", judged.problem, judged.problem.empty() ? "" : "; ",
                     judged.error, judged.tolerance);
}

EmulatedKernel::EmulatedKernel(const GeneratedLayer& generated)
    : name_(generated.layer.name),
      packed_(generated.packed),
      packed_bytes_(generated.bytes().size()),
      program_(HostProgram::compile_cuda(kernel_text(generated), name_ + ".cu")) {}

JudgedProduct EmulatedKernel::multiply(const SparseMatrix& matrix, const ProductCase& product,
                                       const std::vector<float>& b, std::optional<std::uint64_t> order) const {
  EmulationOptions options;
  options.shuffle_seed = order;
  EmulatedDevice device(options);
  std::vector<float> c = poisoned_c(matrix.rows, product);
  const auto shift = static_cast<std::size_t>(product.shift);
  const std::span<std::byte> device_b = device.allocate("B", (b.size() + shift) * sizeof(float), BufferUse::input());
  const std::span<std::byte> device_c = device.allocate("C", (c.size() + shift) * sizeof(float), BufferUse::output());
  device.add_buffer("packed", packed_.get(), packed_bytes_, BufferUse::input());
  auto* first_b = reinterpret_cast<float*>(device_b.data()) + shift;
  auto* first_c = reinterpret_cast<float*>(device_c.data()) + shift;
  std::memcpy(first_b, b.data(), b.size() * sizeof(float));
  std::memcpy(first_c, c.data(), c.size() * sizeof(float));

  const bool prepared = device.call<int()>(program_, name_ + "_prepare") == 0;
  const auto status =
      device.call<int(const void*, const float*, std::int64_t, float*, std::int64_t, std::int32_t, void*)>(
          program_, name_ + "_spmm", static_cast<const void*>(packed_.get()), first_b, product.ldb, first_c, product.ldc, product.n,
          nullptr);
  std::memcpy(c.data(), first_c, c.size() * sizeof(float));
  const Comparison comparison = compare_with_reference(matrix, b, c, product);
  const std::string problem =
      prepared ? first_problem(device, status.value_or(stopped_by_fault)) : "the kernels cannot be prepared";
  return {comparison.error, float32_tolerance(matrix) * comparison.cancellation, problem.empty() ? comparison.problem : problem};
}

JudgedProduct EmulatedKernel::multiply(const SparseMatrix& matrix, const ProductCase& product,
                                       std::optional<std::uint64_t> order) const {
  constexpr std::uint64_t seed = 1;
  return multiply(matrix, product, draw_b(matrix.columns, product, seed), order);
}

std::string transformer_problem(const GeneratedLayer& generated, const SparseMatrix& matrix) {
  const std::string& name = generated.layer.name;
  const std::string file = name + "_transformer.cpp";
  const HostProgram program = HostProgram::compile_host(format_source(transformer_source(generated.layer), file), file);
  EmulatedDevice device;
  const TransformCheck check = check_transformer(emulated(device, program, name, matrix), matrix, most_dense_elements);
  if (!device.faults().empty()) {
    return device.faults().front().message;
  }
  if (!check.problems.empty()) {
    return check.problems.front();
  }
  return std::ranges::equal(check.packed, generated.bytes()) ? "" : "it packs otherwise than the generator";
}

}  // namespace esc::tests
