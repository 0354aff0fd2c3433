#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace esc {

/// The address of the function or variable of the C library that compiled text means by `name`; 0 for all but a short
/// list. Those that fill or read a buffer of the text are wrapped, so that what they touch is checked as well; strings
/// that end with a zero are taken on trust.
std::uint64_t resolve_host_library(const std::string& name);

/// Address and bytes of the variables among them.
std::vector<std::pair<std::uint64_t, std::uint64_t>> host_library_variables();

}  // namespace esc
