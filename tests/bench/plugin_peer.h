// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "tests/bench/peer_plugin.h"
#include "tuner/gpu/peer.h"
#include "tuner/gpu/product_bench.h"

namespace esc::bench {

/// Whether the library wants B and C as a bench with transposed matrices has them.
bool wants_transposed(const PeerPlugin& plugin);

/// The library's algorithms for the bench's product, which has B and C as the library wants them. It lives no longer
/// than the bench.
gpu::Peer plugin_peer(const std::shared_ptr<const PeerPlugin>& plugin, const gpu::ProductBench& bench);

}  // namespace esc::bench
