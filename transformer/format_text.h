#pragma once

#include <ostream>
#include <string>

#include "transformer/packed_format.h"

namespace esc::transformer {

/// The description as a few lines of text, one per section; ends with a line break.
std::string to_text(const PackedFormat& format);

std::ostream& operator<<(std::ostream& stream, const PackedFormat& format);

}  // namespace esc::transformer
