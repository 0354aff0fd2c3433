// SPDX-License-Identifier: Apache-2.0
// What it takes to choose a schedule for one product: the candidates, their predicted times and the corrections. The
// first choice of a type and layout reads their measurements, too; that one is not timed.
#include <benchmark/benchmark.h>

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

BENCHMARK_CAPTURE(choose, f32_kn, std::string("f32"), std::string("kn"))
    ->Arg(1)
    ->Arg(8)
    ->Arg(32)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(choose, f32_nk, std::string("f32"), std::string("nk"))
    ->Arg(1)
    ->Arg(8)
    ->Arg(32)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(choose, tf32_kn, std::string("tf32"), std::string("kn"))
    ->Arg(32)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(choose, f16_kn, std::string("f16"), std::string("kn"))
    ->Arg(1)
    ->Arg(8)
    ->Arg(32)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(choose, f16_nk, std::string("f16"), std::string("nk"))
    ->Arg(1)
    ->Arg(8)
    ->Arg(32)
    ->Arg(256)
    ->Arg(2048)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace esc

BENCHMARK_MAIN();
