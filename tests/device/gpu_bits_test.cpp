// SPDX-License-Identifier: Apache-2.0
// Kernels on the GPU of this machine and on the emulated grid, bit by bit; skipped without a GPU, or without nvcc.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "generator/support/temporary_folder.h"
#include "generator/verify/bundle_library.h"
#include "generator/verify/gpu_product.h"
#include "tests/device/gpu_bundles.h"
#include "tests/device/gpu_machine.h"
#include "tests/support/drawn_case.h"
#include "tests/support/emulated_layer.h"
#include "tests/support/order_of_sums.h"

namespace esc {
namespace {

using tests::DrawnCase;
using tests::EmulatedKernel;
using tests::OrderOfSums;

/// A kernel for a drawn case.
struct Trial {
  const DrawnCase* drawn = nullptr;
  Schedule schedule;
  GeneratedLayer generated;
};

/// The families in which sums are added up in an order that is known.
std::vector<Trial> trials_of(const std::vector<DrawnCase>& cases) {
  std::vector<Trial> trials;
  for (const DrawnCase& drawn : cases) {
    for (const Schedule& schedule : {Schedule(drawn.row_tile), Schedule(drawn.rows)}) {
      trials.push_back({&drawn, schedule,
                        generate_layer(drawn.a, spmm_nest(drawn.a.element),
                                       {.name = fmt::format("drawn_{}", trials.size()),
                                        .source_file = "drawn.mtx",
                                        .bcol = drawn.bcol,
                                        .architectures = {90},
                                        .choice = {schedule, "user"}})});
    }
  }
  return trials;
}

/// The first element of a row with a fixed order of sums that is not the same bit by bit; or empty. Neither C has gaps.
std::string first_difference(const Trial& trial, const TypedElements& on_gpu, const TypedElements& emulated) {
  const DrawnCase& drawn = *trial.drawn;
  const ProductCase& product = drawn.product;
  const OrderOfSums order(trial.schedule, drawn.a);
  const auto element = static_cast<std::int64_t>(bytes_of(drawn.a.element));
  for (std::int64_t row = 0; row < drawn.a.rows; ++row) {
    for (std::int64_t j = 0; j < product.n && order.of_row(row); ++j) {
      const std::int64_t at = (row * product.n + j) * element;
      if (std::memcmp(on_gpu.bytes().data() + at, emulated.bytes().data() + at, static_cast<std::size_t>(element)) !=
          0) {
        return fmt::format("C[{}][{}] differs", row, j);
      }
    }
  }
  return {};
}

TEST(DrawnCases, HaveTheSameBitsOnTheGpuAndEmulated) {
  if (const std::string missing = tests::missing_for_gpu_tests(); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const std::vector<DrawnCase> cases = tests::cases_of_the_run();
  const std::vector<Trial> trials = trials_of(cases);
  std::vector<const GeneratedLayer*> layers;
  for (const Trial& trial : trials) {
    layers.push_back(&trial.generated);
  }
  const TemporaryFolder folder;
  tests::compile_layers(layers, folder.path());
  const CudaRuntime runtime;
  const DeviceStream stream(runtime);
  const Predecessor predecessor(runtime, folder.path() / predecessor_library);
  for (const Trial& trial : trials) {
    const DrawnCase& drawn = *trial.drawn;
    SCOPED_TRACE(fmt::format("{}: {}", print(drawn), print(trial.schedule)));
    const std::string& name = trial.generated.layer.name;
    const BundleLibrary library(folder.path() / (name + ".so"), name);
    ASSERT_EQ(library.kernel().prepare(), 0);
    const KernelCall call{.product = drawn.product};
    const TypedElements b(drawn.a.element, drawn.b());
    const GpuProduct on_gpu = gpu_product({runtime, stream, predecessor, library.kernel(), trial.generated.bytes(),
                                           drawn.a.rows, dispatch_of(trial.generated.layer)},
                                          call, b);
    ASSERT_EQ(on_gpu.problem, "");
    const EmulatedProduct emulated = EmulatedKernel(trial.generated).product(drawn.a, call, drawn.b());
    ASSERT_EQ(emulated.problems, std::vector<std::string>());
    EXPECT_EQ(first_difference(trial, on_gpu.c, emulated.c), "");
  }
}

}  // namespace
}  // namespace esc
