// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/microbenchmarks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <string>

#include "tuner/gpu/dense_rate.h"
#include "tuner/gpu/launch.h"
#include "tuner/gpu/rtc_build.h"
#include "tuner/gpu/texts.h"

namespace esc::gpu {
namespace {

constexpr unsigned int threads = 256;
/// Of a multiprocessor, at once: 1024 threads fit on each that there is, with 64 registers each.
constexpr unsigned int blocks_at_once = 4;
constexpr std::size_t chunk_bytes = 16;
constexpr TimingOptions timing{.launches = 2, .warmups = 2, .replays = 9};

/// The best of several launches, in microseconds.
double least_time(GraphTimer& timer, const Launch& launch) {
  return std::ranges::min(timer.measure(launch, timing).samples);
}

class RateKernels {
 public:
  explicit RateKernels(const DeviceFacts& device)
      : blocks_(static_cast<unsigned int>(device.multiprocessors) * blocks_at_once),
        kernels_(build({std::string(rate_kernels_text), {"read_kernel", "multiply_add_kernel"}, device.architecture})),
        result_(chunk_bytes) {}

  /// Gigabytes a second of an array that is read so many times, whose size is a power of two.
  double read_gigabytes(const Buffer& array, unsigned int passes, GraphTimer& timer) const {
    double most = 0;
    // Blocks that stay have less to begin with; many that follow each other are even work for all multiprocessors.
    for (const unsigned int grid : {blocks_, 8 * blocks_}) {
      const double of_round = 4.0 * chunk_bytes * threads * grid;
      auto rounds = static_cast<unsigned int>(std::ceil(static_cast<double>(array.bytes()) * passes / of_round));
      unsigned long long last = array.bytes() / chunk_bytes - 1;
      const double microseconds = least_time(timer, [&](cudaStream_t stream, std::size_t) {
        const void* from = array.as<void>();
        void* result = result_.as<void>();
        void* arguments[] = {&from, &last, &rounds, &result};
        launch(kernels_.function(0), {.grid_x = grid, .threads = threads}, Edge::plain, arguments, stream);
      });
      most = std::max(most, of_round * rounds / microseconds / 1000);
    }
    return most;
  }

  /// Operations a microsecond, two of each multiplication with its addition.
  double operations(GraphTimer& timer) const {
    unsigned int rounds = 4096;
    constexpr double of_round = 2 * 16 * 8;
    const double microseconds = least_time(timer, [&](cudaStream_t stream, std::size_t) {
      float factor = 0.5F;
      float summand = 0.25F;
      void* result = result_.as<void>();
      void* arguments[] = {&factor, &summand, &rounds, &result};
      launch(kernels_.function(1), {.grid_x = blocks_, .threads = threads}, Edge::plain, arguments, stream);
    });
    return of_round * rounds * threads * blocks_ / microseconds;
  }

 private:
  unsigned int blocks_;
  LoadedKernels kernels_;
  Buffer result_;
};

Buffer zeros(std::size_t bytes, const Stream& stream) {
  Buffer buffer(bytes);
  check(cudaMemsetAsync(buffer.as<void>(), 0, bytes, stream.get()), "cudaMemsetAsync");
  return buffer;
}

/// Many times the L2 cache; of a device with little memory an eighth of that at most.
std::size_t memory_array(const DeviceFacts& device) {
  return std::bit_floor(std::min<std::size_t>(std::size_t{4} << 30U, device.memory_bytes / 8));
}

/// A third of the L2 cache at most: either half of it may keep what the other one has.
std::size_t cached_array(const DeviceFacts& device) { return std::bit_floor<std::size_t>(device.l2_bytes / 3); }

/// To four digits: what is finer is noise.
double four_digits(double value) {
  const double last = std::pow(10, std::floor(std::log10(value)) - 3);
  return std::round(value / last) * last;
}

double gigaflops(double operations_of_microsecond) { return four_digits(operations_of_microsecond / 1000); }

}  // namespace

tuning::DeviceRates measure_rates(const DeviceFacts& device, const Stream& stream, GraphTimer& timer) {
  constexpr unsigned int passes_of_cache = 64;
  constexpr std::size_t rows_of_product = 8192;
  constexpr std::size_t fewer_rows = 4096;  // where memory is scarce
  constexpr int first_tensor_float = 80;
  wake(stream);
  const RateKernels kernels(device);
  tuning::DeviceRates rates;
  rates.memory_gigabytes = four_digits(kernels.read_gigabytes(zeros(memory_array(device), stream), 1, timer));
  rates.l2_gigabytes = four_digits(kernels.read_gigabytes(zeros(cached_array(device), stream), passes_of_cache, timer));
  rates.fp32_gigaflops = gigaflops(kernels.operations(timer));
  const std::size_t rows = device.memory_bytes < (std::uint64_t{8} << 30U) ? fewer_rows : rows_of_product;
  const auto dense = [&](DenseElements elements) -> std::optional<double> {
    const std::optional<double> operations = dense_operations(elements, rows, stream, timer);
    return operations ? std::optional(gigaflops(*operations)) : std::nullopt;
  };
  rates.tf32_gigaflops = device.architecture >= first_tensor_float ? dense(DenseElements::tf32) : std::nullopt;
  rates.f16_gigaflops = dense(DenseElements::f16);
  return rates;
}

}  // namespace esc::gpu
