#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>

#include "generator/emit/layer.h"

namespace esc {

/// A number as it stands in C.
std::string number(auto value) { return fmt::format("{}", value); }

/// The holes that the kernel texts of all families have: where it comes from, name, sizes, non-zeros and bCol; and `more`.
std::map<std::string, std::string> kernel_holes(const Layer& layer, std::map<std::string, std::string> more);

/// What a text says of its row panels.
std::string height_sentence(std::uint32_t height);

}  // namespace esc
