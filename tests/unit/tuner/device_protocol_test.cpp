// SPDX-License-Identifier: Apache-2.0
// What the process that has a device is told of a product.

#include "tuner/device/device_protocol.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "generator/matrix/round_values.h"
#include "generator/matrix/sample.h"

namespace esc::tuning {
namespace {

/// Keeps what it is asked to take up.
class KeepingDevice final : public MeasuringDevice {
 public:
  DeviceDescription describe() override { return {}; }
  DeviceRates measure_rates() override { return {.memory_gigabytes = 4300.5, .fp32_gigaflops = 60000}; }
  void open(const ProductQuestion& product) override { kept = product; }
  std::vector<Measurement> measure_peers() override { return {}; }
  Measurement measure(const KernelQuestion&, const StopRule&, OccupancyCuts) override { return {}; }
  Measurement add_finalist(const KernelQuestion&) override { return {}; }
  std::vector<double> run_round(Edge) override { return {}; }
  bool works() override { return true; }

  std::optional<ProductQuestion> kept;
};

/// What arrives of a question without a product.
Message answer_to(const Message& question) {
  std::array<int, 2> ends;
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  KeepingDevice device;
  Message answer;
  {
    const std::jthread worker([&] { serve_measurements(ends[1], device); });
    EXPECT_TRUE(send(ends[0], question));
    EXPECT_EQ(receive(ends[0], answer), Reception::complete);
    ::shutdown(ends[0], SHUT_RDWR);
  }
  ::close(ends[0]);
  ::close(ends[1]);
  return answer;
}

/// What arrives of a question.
ProductQuestion carried(const ProductQuestion& question) {
  std::array<int, 2> ends;
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  KeepingDevice device;
  {
    const std::jthread worker([&] { serve_measurements(ends[1], device); });
    EXPECT_TRUE(send(ends[0], open_question(question)));
    Message answer;
    EXPECT_EQ(receive(ends[0], answer), Reception::complete);
    EXPECT_NO_THROW(check_opened(answer));
    ::shutdown(ends[0], SHUT_RDWR);
  }
  ::close(ends[0]);
  ::close(ends[1]);
  return device.kept.value();
}

TEST(DeviceProtocol, CarriesRates) {
  EXPECT_EQ(rates_in(answer_to(rates_question())), (DeviceRates{.memory_gigabytes = 4300.5, .fp32_gigaflops = 60000}));
}

TEST(DeviceProtocol, CarriesAProductOfEachElementType) {
  for (const ScalarType element : {ScalarType::f32, ScalarType::f16, ScalarType::bf16}) {
    SCOPED_TRACE(name_of(element));
    SparseMatrix matrix = sample_matrix({.rows = 20, .columns = 30, .sparsity = 0.7, .seed = 1});
    if (is_half(element)) {
      round_values(matrix, element);
    }
    matrix.element = element;
    const ProductQuestion question{matrix, 24, CacheState::cold, spmm_nest(element)};
    const ProductQuestion result = carried(question);
    EXPECT_EQ(result.matrix.element, element);
    EXPECT_EQ(result.matrix.values, matrix.values);
    EXPECT_EQ(result.matrix.column_of, matrix.column_of);
    EXPECT_EQ(result.matrix.offsets, matrix.offsets);
    EXPECT_EQ(result.nest, question.nest);
    EXPECT_EQ(result.bcol, 24);
    EXPECT_EQ(result.cache, CacheState::cold);
  }
}

}  // namespace
}  // namespace esc::tuning
