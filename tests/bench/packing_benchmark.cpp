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

std::vector<double> dense_matrix(std::int64_t rows) {
  std::mt19937_64 random(1);
  std::bernoulli_distribution zero(sparsity);
  std::vector<double> values(static_cast<std::size_t>(rows * columns));
  for (double& value : values) {
    value = zero(random) ? 0.0 : 1.0;
  }
  return values;
}

CsrMatrix sparse_matrix(std::int64_t rows) {
  const std::vector<double> values = dense_matrix(rows);
  return unpack(pack(DenseView{rows, columns, values.data(), columns}, {}).bytes());
}

void report(benchmark::State& state, std::int64_t bytes_per_run) {
  state.SetComplexityN(state.range(0) * columns);
  state.SetBytesProcessed(state.iterations() * bytes_per_run);
}

void pack_dense(benchmark::State& state) {
  const std::vector<double> values = dense_matrix(state.range(0));
  const DenseView matrix{state.range(0), columns, values.data(), columns};
  for (auto _ : state) {
    benchmark::DoNotOptimize(pack(matrix, {}));
  }
  report(state, static_cast<std::int64_t>(values.size() * sizeof(double)));
}

void pack_csr(benchmark::State& state) {
  const CsrMatrix matrix = sparse_matrix(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(pack(matrix.view(), {}));
  }
  report(state, static_cast<std::int64_t>(matrix.values.size() * (sizeof(double) + sizeof(std::int32_t))));
}

void unpack_packed(benchmark::State& state) {
  const PackedMatrix packed = pack(sparse_matrix(state.range(0)).view(), {});
  for (auto _ : state) {
    benchmark::DoNotOptimize(unpack(packed.bytes()));
  }
  report(state, static_cast<std::int64_t>(packed.bytes().size()));
}

void checksum_bytes(benchmark::State& state) {
  const std::vector<double> values = dense_matrix(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(checksum(values.data(), values.size() * sizeof(double)));
  }
  report(state, static_cast<std::int64_t>(values.size() * sizeof(double)));
}

void sizes(benchmark::internal::Benchmark* series) {
  series->ArgName("rows")->RangeMultiplier(2)->Range(1024, 32768)->Unit(benchmark::kMillisecond)->UseRealTime();
  series->Complexity(benchmark::oN);
}

BENCHMARK(pack_dense)->Apply(sizes);
BENCHMARK(pack_csr)->Apply(sizes);
BENCHMARK(unpack_packed)->Apply(sizes);
BENCHMARK(checksum_bytes)->Apply(sizes);

}  // namespace
}  // namespace esc::transformer

BENCHMARK_MAIN();
