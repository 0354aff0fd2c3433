// SPDX-License-Identifier: Apache-2.0
// The emulator's headers say of types and functions what CUDA's say: no text can tell them apart by that.

#include <gtest/gtest.h>

#include <string>

#include "generator/emulate/compile_program.h"
#include "generator/support/file.h"
#include "generator/support/process.h"
#include "generator/support/temporary_folder.h"
#include "generator/verify/nvcc.h"

namespace esc {
namespace {

const std::string facts = std::string(ESC_SOURCE_DIR) + "/tests/device/standin_facts.cu";

TEST(StandinFacts, HoldInTheEmulator) { EXPECT_NO_THROW(compile_cuda(read_file(facts), "standin_facts.cu")); }

TEST(StandinFacts, HoldInCuda) {
  const std::string nvcc = find_nvcc();
  if (nvcc.empty()) {
    GTEST_SKIP() << "nvcc is not on this machine";
  }
  const TemporaryFolder folder;
  const ProcessResult compiled =
      run_process({nvcc, "-std=c++17", "-arch=sm_90", "-cubin", "-o", (folder.path() / "facts.cubin").string(), facts});
  EXPECT_EQ(compiled.status, 0) << compiled.output;
}

}  // namespace
}  // namespace esc
