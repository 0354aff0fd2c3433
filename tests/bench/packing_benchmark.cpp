// SPDX-License-Identifier: Apache-2.0
// Packing time against the size of the matrix: the fit that is printed at the end of each series is linear in M * K.

#include <benchmark/benchmark.h>

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

void sizes(benchmark::internal::Benchmark* series) {
  series->ArgName("rows")->RangeMultiplier(2)->Range(1024, 32768)->Unit(benchmark::kMillisecond)->UseRealTime();
  series->Complexity(benchmark::oN);
}

BENCHMARK(pack_csr)->Apply(sizes);
BENCHMARK(unpack_packed)->Apply(sizes);
BENCHMARK(checksum_bytes)->Apply(sizes);

}  // namespace
}  // namespace esc::transformer

BENCHMARK_MAIN();
