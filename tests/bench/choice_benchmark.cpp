// SPDX-License-Identifier: Apache-2.0
// What it takes to choose a schedule for one product: the candidates, their predicted times and the corrections. The
// first choice of a type and layout reads their measurements, too; that one is not timed.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/scheduler.h"
#include "generator/schedule/target.h"

namespace esc {
namespace {

LayerShape layer(const std::string& dtype, const std::string& layout, long long bcol) {
  constexpr std::int64_t rows = 4096, columns = 4096;
  return {.bcol = bcol,
          .rows = rows,
          .columns = columns,
          .nonzeros = rows * columns * 2 / 5,
          .layout = layout,
          .contiguous = layout == "kn",
          .dtype = dtype};
}

void choose(benchmark::State& state, const std::string& dtype, const std::string& layout) {
  const LayerShape shape = layer(dtype, layout, state.range(0));
  const DeviceKey device = device_of_gpu("h200").key;
  benchmark::DoNotOptimize(choose_schedule(shape, device));
  for (auto _ : state) {
    benchmark::DoNotOptimize(choose_schedule(shape, device));
  }
}

void columns(benchmark::internal::Benchmark* benchmark) {
  for (const std::int64_t bcol : {1, 8, 32, 256, 2048}) {
    benchmark->Arg(bcol);
  }
  benchmark->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(choose, f32_kn, "f32", "kn")->Apply(columns);
BENCHMARK_CAPTURE(choose, f32_nk, "f32", "nk")->Apply(columns);
BENCHMARK_CAPTURE(choose, tf32_kn, "tf32", "kn")->Apply(columns);
BENCHMARK_CAPTURE(choose, f16_kn, "f16", "kn")->Apply(columns);
BENCHMARK_CAPTURE(choose, f16_nk, "f16", "nk")->Apply(columns);

}  // namespace
}  // namespace esc

BENCHMARK_MAIN();
