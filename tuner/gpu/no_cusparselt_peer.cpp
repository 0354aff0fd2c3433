// SPDX-License-Identifier: Apache-2.0
// Stands for cusparselt_peer.cpp where the program is built without cuSPARSELt's header.
#include "generator/support/error.h"
#include "tuner/gpu/cusparselt_peer.h"

namespace esc::gpu {

struct CusparseLt::Context {};

CusparseLt::CusparseLt() : absence_("this program was built without cusparseLt.h") {}
CusparseLt::~CusparseLt() = default;

std::string CusparseLt::version() const { return {}; }

Peer cusparselt_peer(const CusparseLt& library, const ProductBench& bench) {
  static_cast<void>(bench);
  throw Defect(__FILE__, __LINE__, "cusparselt_peer", library.absence());
}

}  // namespace esc::gpu
