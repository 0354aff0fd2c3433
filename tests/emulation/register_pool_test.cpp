// SPDX-License-Identifier: Apache-2.0
// Registers that warps take and leave (setmaxnreg): what a launch can give, and each way to ask for more.

#include <fmt/format.h>

#include "tests/emulation/async_fixture.h"

namespace esc::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A block of 512 threads, each of which has 128: half of them take some, the other half leave some.
std::string exchange_text(const std::string& takes, const std::string& leaves) {
  return fmt::format(R"(
__global__ void k(const float* x, float* y) {{
  if (threadIdx.x < 256) {{
    {}
  }} else {{
    {}
  }}
  if (threadIdx.x < 64) y[threadIdx.x] = x[threadIdx.x];
}}
extern "C" cudaError_t run(const float* x, float* y, int n) {{ return launch(k, 1, 512, 0, x, y); }}
)",
                     takes, leaves);
}
std::string take(int registers) {
  return fmt::format(R"(asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"({}) : "memory");)", registers);
}
std::string leave(int registers) {
  return fmt::format(R"(asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"({}) : "memory");)", registers);
}

void expect_refusal(const std::string& text, FaultKind kind, const std::string& words) {
  const EmulationFault fault = first_fault(text);
  EXPECT_EQ(fault.kind, kind) << fault.message;
  EXPECT_THAT(fault.message, HasSubstr(words));
}

TEST(RegisterPool, HasWhatOthersLeave) {
  EXPECT_THAT(messages_of(testing::faults_of(exchange_text(take(200), leave(56)), {})), IsEmpty());
  EXPECT_THAT(messages_of(testing::faults_of(exchange_text(take(160), leave(56)), {})), IsEmpty());
  EXPECT_THAT(messages_of(testing::faults_of(exchange_text(take(128), leave(128)), {})), IsEmpty());
}

TEST(RegisterPool, HasNoMore) {
  expect_refusal(exchange_text(take(208), leave(56)), FaultKind::deadlock,
                 "takes 208 registers a thread, but of 128 for each thread of the block warps have not left so many");
  expect_refusal(exchange_text(take(136), ""), FaultKind::deadlock, "takes 136 registers a thread");
}

TEST(RegisterPool, GivesMultiplesOfEight) {
  expect_refusal(exchange_text(take(196), leave(56)), FaultKind::bad_operand,
                 "takes 196 registers a thread, of which it has 128");
  expect_refusal(exchange_text(take(264), leave(24)), FaultKind::bad_operand, "takes 264 registers a thread");
  expect_refusal(exchange_text(take(136), leave(16)), FaultKind::bad_operand, "leaves 16 registers a thread");
}

TEST(RegisterPool, IsTakenFromAndLeftTo) {
  expect_refusal(exchange_text(take(120), leave(56)), FaultKind::bad_operand,
                 "takes 120 registers a thread, of which it has 128");
  expect_refusal(exchange_text(take(136), leave(136)), FaultKind::bad_operand,
                 "leaves 136 registers a thread, of which it has 128");
}

TEST(RegisterPool, IsAskedByWholeWarps) {
  expect_refusal(exchange_text("if (threadIdx.x % 32 < 16) " + leave(56), ""), FaultKind::missing_lanes, "setmaxnreg");
  expect_refusal(exchange_text("if (threadIdx.x % 32 < 16) { " + leave(56) + " } else { " + leave(64) + " }", ""),
                 FaultKind::missing_lanes, "setmaxnreg");
}

}  // namespace
}  // namespace esc::testing
