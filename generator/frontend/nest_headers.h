// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace esc {

/// Which headers a nest may include beside those of the compiler and of the C and C++ libraries: none, or those beside
/// it.
enum class NestHeaders { of_system, beside };

}  // namespace esc
