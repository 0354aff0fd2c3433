// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include "tests/emulation/emulation_fixture.h"

namespace esc::testing {

/// A text that begins with tests/device/async_instructions.cuh.
inline std::string with_async_instructions(const std::string& text) {
  std::ifstream file(ESC_SOURCE_DIR "/tests/device/async_instructions.cuh");
  std::ostringstream whole;
  whole << file.rdbuf() << "\n#line 1\n" << text;
  return whole.str();
}

}  // namespace esc::testing
