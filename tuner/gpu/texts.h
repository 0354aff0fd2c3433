// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace esc {

// Device texts beside this file, embedded.
extern const std::string_view rtc_prelude_text;
extern const std::string_view floor_kernel_text;
extern const std::string_view rate_kernels_text;

}  // namespace esc
