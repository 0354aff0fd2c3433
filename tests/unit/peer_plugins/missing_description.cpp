// SPDX-License-Identifier: Apache-2.0
// A library for --peer that lacks a function.

#include <cstdint>

#include "tests/bench/peer_plugin_interface.h"

std::int32_t esc_peer_interface_version() { return ESC_PEER_INTERFACE_VERSION; }
