#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "generator/emulate/device.h"
#include "generator/emulate/host_program.h"
#include "generator/emulate/registered_buffer.h"
#include "generator/verify/panel_sample.h"
#include "generator/verify/transformer_check.h"
#include "generator/verify/verify.h"

namespace esc {
namespace {

constexpr std::uint64_t seed_of_b = 1;
constexpr int refused_by_emulator = -1;

/// What B and C of one product may take, with as much again for the emulator's notes on them.
constexpr std::int64_t most_dense_bytes = std::int64_t{2} << 30;

std::int64_t dense_bytes(const SparseMatrix& matrix, const ProductCase& product) {
  return static_cast<std::int64_t>(sizeof(float)) * (matrix.columns * product.ldb + matrix.rows * product.ldc);
}

void report_faults(const EmulatedDevice& device, const std::string& during, std::vector<std::string>& problems) {
  for (const EmulationFault& fault : device.faults()) {
    problems.push_back(fmt::format("{}: {}", during, fault.message));
  }
}

/// The transformer's text, run with every access checked against the sizes of the caller's arrays.
class EmulatedTransformer {
 public:
  EmulatedTransformer(const BundleUnderTest& bundle, const SparseMatrix& matrix)
      : name_(bundle.name),
        matrix_(matrix),
        program_(HostProgram::compile_host(bundle.transformer_text, bundle.name + "_transformer.cpp")) {
    packed_bytes_ = device_.call<std::size_t()>(program_, name_ + "_packed_bytes").value_or(0);
  }

  TransformerFunctions functions() {
    return {[this] { return packed_bytes_; },
            [this](const float* a, std::int64_t lda, void* packed) { return transform(a, lda, packed); },
            [this](const std::int32_t* offsets, const std::int32_t* columns, const float* values, void* packed) {
              return transform_csr(offsets, columns, values, packed);
            },
            [this] { return error(); }};
  }

  const EmulatedDevice& device() const { return device_; }

 private:
  int transform(const float* a, std::int64_t lda, void* packed) {
    const RegisteredBuffer in(device_, "a", a, static_cast<std::size_t>(matrix_.rows * lda) * sizeof(float),
                        BufferUse::input().on_host());
    const RegisteredBuffer out(device_, "packed", packed, packed_bytes_, BufferUse::output().on_host());
    return device_.call<int(const float*, std::int64_t, void*)>(program_, name_ + "_transform", a, lda, packed)
        .value_or(refused_by_emulator);
  }

  int transform_csr(const std::int32_t* offsets, const std::int32_t* columns, const float* values, void* packed) {
    const auto entries = static_cast<std::size_t>(matrix_.nonzeros());
    const BufferUse input = BufferUse::input().on_host();
    const RegisteredBuffer in_offsets(device_, "offsets", offsets,
                                static_cast<std::size_t>(matrix_.rows + 1) * sizeof(std::int32_t), input);
    const RegisteredBuffer in_columns(device_, "columns", columns, entries * sizeof(std::int32_t), input);
    const RegisteredBuffer in_values(device_, "values", values, entries * sizeof(float), input);
    const RegisteredBuffer out(device_, "packed", packed, packed_bytes_, BufferUse::output().on_host());
    return device_
        .call<int(const std::int32_t*, const std::int32_t*, const float*, void*)>(program_, name_ + "_transform_csr",
                                                                                  offsets, columns, values, packed)
        .value_or(refused_by_emulator);
  }

  std::string error() {
    const auto text = device_.call<const char*()>(program_, name_ + "_transform_error");
    return text ? std::string(*text) : "it does not return";
  }

  std::string name_;
  const SparseMatrix& matrix_;
  HostProgram program_;
  EmulatedDevice device_;
  std::size_t packed_bytes_ = 0;
};

/// The bundle's own transformer must write the packed file, and nothing that is not its own.
void check_emulated_transformer(const BundleUnderTest& bundle, const SparseMatrix& matrix,
                                std::int64_t most_dense_elements, VerificationReport& report) {
  EmulatedTransformer transformer(bundle, matrix);
  TransformCheck check = check_transformer(transformer.functions(), matrix, most_dense_elements);
  report.problems = std::move(check.problems);
  report_faults(transformer.device(), "transformer", report.problems);
  if (!std::ranges::equal(check.packed, bundle.packed)) {
    report.problems.push_back("the transformer does not write what the packed file holds");
  }
}

/// For a kernel that prepares C for whatever part of the product is then run.
std::vector<std::uint64_t> all_blocks(const Dim3& grid) {
  std::vector<std::uint64_t> blocks(grid.volume());
  std::iota(blocks.begin(), blocks.end(), std::uint64_t{0});
  return blocks;
}

VerificationRun run_product(const BundleUnderTest& bundle, const HostProgram& program, const SparseMatrix& matrix,
                            const ProductCase& product, std::int64_t most_products, std::vector<std::string>& problems) {
  const PanelSample sample(bundle.packed, matrix.nonzeros() * product.n, most_products);
  EmulationOptions options;
  if (!sample.covers_all()) {
    options.select_blocks = [&](const LaunchInfo& launch) {
      return launch.kernel.ends_with("_zero_rows") ? all_blocks(launch.grid) : sample.blocks(launch.grid.x, launch.grid.y);
    };
  }
  EmulatedDevice device(options);

  const std::vector<float> b = draw_b(matrix.columns, product, seed_of_b);
  const auto elements = static_cast<std::size_t>(matrix.rows * product.ldc);
  const auto shift = static_cast<std::size_t>(product.shift);
  const std::span<std::byte> device_b = device.allocate("B", (b.size() + shift) * sizeof(float), BufferUse::input());
  const std::span<std::byte> device_c = device.allocate("C", (elements + shift) * sizeof(float), BufferUse::output());
  device.add_buffer("packed", bundle.packed.data(), bundle.packed.size(), BufferUse::input());
  std::memcpy(device_b.data() + shift * sizeof(float), b.data(), b.size() * sizeof(float));
  const std::vector<float> poisoned(elements, poison());
  std::memcpy(device_c.data() + shift * sizeof(float), poisoned.data(), elements * sizeof(float));

  if (device.call<int()>(program, bundle.name + "_prepare") != 0) {
    problems.push_back(fmt::format("{}: the kernels cannot be prepared", print(product)));
  }
  const auto status = device.call<int(const void*, const float*, std::int64_t, float*, std::int64_t, std::int32_t, void*)>(
      program, bundle.name + "_spmm", static_cast<const void*>(bundle.packed.data()),
      reinterpret_cast<const float*>(device_b.data()) + shift, product.ldb,
      reinterpret_cast<float*>(device_c.data()) + shift, product.ldc, product.n, nullptr);
  report_faults(device, print(product), problems);
  if (status.value_or(refused_by_emulator) != 0) {
    problems.push_back(fmt::format("{}: the launch returns error {}", print(product), status.value_or(refused_by_emulator)));
  }
  std::vector<float> c(elements);
  std::memcpy(c.data(), device_c.data() + shift * sizeof(float), elements * sizeof(float));
  return {product, compare_with_reference(matrix, b, c, product, sample.covers_all() ? std::vector<bool>() : sample.rows())};
}

}  // namespace

VerificationReport verify_by_emulation(const BundleUnderTest& bundle, const SparseMatrix& matrix,
                                       const EmulationEffort& effort) {
  VerificationReport report{.method = "emulation", .tolerance = float32_tolerance(matrix)};
  if (matrix.nonzeros() <= effort.most_packed_nonzeros) {
    check_emulated_transformer(bundle, matrix, effort.most_dense_elements, report);
  } else {
    report.skipped.push_back(fmt::format("the transformer was not run: the matrix has more than {} non-zeros",
                                         effort.most_packed_nonzeros));
  }

  const HostProgram program = HostProgram::compile_cuda(bundle.kernel_text, bundle.name + ".cu");
  for (const ProductCase& product : judging_cases(bundle.bcol)) {
    if (dense_bytes(matrix, product) > most_dense_bytes) {
      report.skipped.push_back(fmt::format("{} was not run: B and C would take {} GiB", print(product),
                                           dense_bytes(matrix, product) >> 30));
      continue;
    }
    report.runs.push_back(run_product(bundle, program, matrix, product, effort.most_products, report.problems));
  }
  return report;
}

}  // namespace esc
