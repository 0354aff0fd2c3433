// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/emulation/async_fixture.h"

namespace esc::testing {

/// A text that begins with these files of tests/device, after the instructions of asynchronous copies.
inline std::string with_warpgroup_instructions(const std::string& text,
                                               const std::vector<std::string>& files = {"warpgroup_instructions.cuh"}) {
  std::ostringstream whole;
  whole << "#define __CUDA_ARCH_FEAT_SM90_ALL 1\n";
  for (const std::string& file : files) {
    whole << std::ifstream(ESC_SOURCE_DIR "/tests/device/" + file).rdbuf() << "\n";
  }
  whole << text;
  return with_async_instructions(whole.str());
}

}  // namespace esc::testing
