#pragma once

#include <string>

namespace esc {

// The parts of a kernel's text by which it may begin before the one in front of it in the stream has ended
// (programmatic dependent launch). All are empty without `pdl`.

/// The functions of the device that the two calls below call.
std::string dependency_functions(bool pdl);
/// The call that lets the next kernel begin, and the one behind which B and C may be touched.
std::string allow_successor_call(bool pdl);
std::string wait_call(bool pdl);

/// In a launcher: gives `launch` the attribute, where the device knows it.
std::string launch_attributes(bool pdl);

}  // namespace esc
