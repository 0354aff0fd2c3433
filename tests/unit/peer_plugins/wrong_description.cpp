// SPDX-License-Identifier: Apache-2.0
// A library for --peer whose description a test sets through `described`, to find each rule that it can break.

#include <cstdint>

#include "tests/bench/peer_plugin_interface.h"

extern "C" const esc_peer* described;
const esc_peer* described = nullptr;

std::int32_t esc_peer_interface_version() { return ESC_PEER_INTERFACE_VERSION; }
const esc_peer* esc_peer_describe() { return described; }
