// SPDX-License-Identifier: Apache-2.0
// Packing time against the size of the matrix: the fit that is printed at the end of each series is linear in M * K.
// And bitmaps, in dense bytes a second, on one thread and on all.

#include <benchmark/benchmark.h>
#include <tbb/global_control.h>
#include <tbb/info.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "transformer/pack.h"
#include "transformer/unpack.h"

namespace esc::transformer {
namespace {

constexpr std::int64_t columns = 512;
constexpr double sparsity = 0.7;

std::vector<float> dense_matrix(std::int64_t rows) {
  std::mt19937_64 random(1);
  std::bernoulli_distribution zero(sparsity);
  std::vector<float> values(static_cast<std::size_t>(rows * columns));
  for (float& value : values) {
    value = zero(random) ? 0.0f : 1.0f;
  }
  return values;
}

CsrMatrix sparse_matrix(std::int64_t rows) {
  const std::vector<float> values = dense_matrix(rows);
  CsrMatrix matrix{rows, columns, {0}, {}, {}};
  for (std::int64_t at = 0; at < rows * columns; ++at) {
    if (values[static_cast<std::size_t>(at)] != 0) {
      matrix.column_of.push_back(static_cast<std::int32_t>(at % columns));
      matrix.values.push_back(values[static_cast<std::size_t>(at)]);
    }
    if (at % columns == columns - 1) {
      matrix.offsets.push_back(std::ssize(matrix.values));
    }
  }
  return matrix;
}

void report(benchmark::State& state, std::int64_t bytes_per_run) {
  state.SetComplexityN(state.range(0) * columns);
  state.SetBytesProcessed(state.iterations() * bytes_per_run);
}

void pack_csr(benchmark::State& state) {
  const CsrMatrix matrix = sparse_matrix(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(pack(matrix.view(), ListCut{}));
  }
  report(state, static_cast<std::int64_t>(matrix.values.size() * (sizeof(float) + sizeof(std::int32_t))));
}

void unpack_packed(benchmark::State& state) {
  const Packed<ListFormat> packed = pack(sparse_matrix(state.range(0)).view(), ListCut{});
  for (auto _ : state) {
    benchmark::DoNotOptimize(unpack(packed.bytes.span()));
  }
  report(state, static_cast<std::int64_t>(packed.bytes.span().size()));
}

void checksum_bytes(benchmark::State& state) {
  const std::vector<float> values = dense_matrix(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(checksum(values.data(), values.size() * sizeof(float)));
  }
  report(state, static_cast<std::int64_t>(values.size() * sizeof(float)));
}

/// Weights of 16 bits, so many percent of which are zeros.
CsrMatrix half_matrix(std::int64_t size, double zeros) {
  std::mt19937_64 random(1);
  std::bernoulli_distribution is_zero(zeros / 100);
  CsrMatrix matrix{size, size, {0}, {}, {}, ScalarType::f16};
  for (std::int64_t row = 0; row < size; ++row) {
    for (std::int32_t column = 0; column < size; ++column) {
      if (!is_zero(random)) {
        matrix.column_of.push_back(column);
        matrix.values.push_back(std::ldexp(static_cast<double>(1 + random() % 2047), -12));
      }
    }
    matrix.offsets.push_back(std::ssize(matrix.values));
  }
  return matrix;
}

void pack_bitmap(benchmark::State& state) {
  constexpr std::int64_t size = 4096;
  const CsrMatrix matrix = half_matrix(size, static_cast<double>(state.range(0)));
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(state.range(1)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(pack(matrix.view(), BitmapCut{}));
  }
  state.SetBytesProcessed(state.iterations() * size * size * 2);
}

void zeros_and_threads(benchmark::internal::Benchmark* series) {
  series->ArgNames({"zeros", "threads"})->Unit(benchmark::kMillisecond)->UseRealTime();
  series->ArgsProduct({{50, 60, 70}, {1, tbb::info::default_concurrency()}});
}

void sizes(benchmark::internal::Benchmark* series) {
  series->ArgName("rows")->RangeMultiplier(2)->Range(1024, 32768)->Unit(benchmark::kMillisecond)->UseRealTime();
  series->Complexity(benchmark::oN);
}

BENCHMARK(pack_csr)->Apply(sizes);
BENCHMARK(unpack_packed)->Apply(sizes);
BENCHMARK(pack_bitmap)->Apply(zeros_and_threads);
BENCHMARK(checksum_bytes)->Apply(sizes);

}  // namespace
}  // namespace esc::transformer

BENCHMARK_MAIN();
