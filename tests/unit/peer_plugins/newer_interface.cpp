// SPDX-License-Identifier: Apache-2.0
// A library for --peer of a version of the interface that is still to come, whose description must not be asked for.

#include <cstdint>
#include <cstdlib>

#include "tests/bench/peer_plugin_interface.h"

std::int32_t esc_peer_interface_version() { return ESC_PEER_INTERFACE_VERSION + 1; }
const esc_peer* esc_peer_describe() { std::abort(); }
