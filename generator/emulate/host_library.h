// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace esc {

/// The address of the function of the C library that compiled text means by `name`; 0 for all but a short list. Those
/// that fill or read a buffer of the text are wrapped, so that what they touch is checked as well; strings that end
/// with a zero are taken on trust. Those of files are there to be linked with: a call of one is a fault.
std::uint64_t resolve_host_library(const std::string& name);

}  // namespace esc
