// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/device_ceilings.h"

#include <algorithm>
#include <vector>

namespace esc {
namespace {

struct Row {
  DeviceKey device;
  DeviceCeilings ceilings;
};

/// Peaks and memory bandwidths are the data sheets' figures, at the boost clock: multiprocessors * 128 FMA units (64 on
/// the A100) * 2 * clock. No data sheet has a bandwidth of the L2 cache; the one that is here was measured.
const std::vector<Row>& rows() {
  constexpr std::uint64_t mebibyte = 1024 * 1024;
  static const std::vector<Row> table{
      {{80, 108, 40 * mebibyte},
       {"A100 (40 GB)", 19500, 1555, std::nullopt, "data sheet of the A100, 40 GB: 19.5 TFLOP/s, 1,555 GB/s"}},
      {{89, 128, 72 * mebibyte},
       {"GeForce RTX 4090", 82600, 1008, std::nullopt, "architecture paper of Ada: 82.6 TFLOP/s, 1,008 GB/s"}},
      {{90, 132, 50 * mebibyte},
       {"H100 SXM", 66900, 3350, std::nullopt, "data sheet of the H100 SXM: 67 TFLOP/s (66.9 at 1.98 GHz), 3.35 TB/s"}},
      {{90, 132, 60 * mebibyte},
       {"H200 SXM", 66900, 4800, 7950,
        "data sheet of the H200: 67 TFLOP/s (66.9 at 1.98 GHz), 4.8 TB/s; L2: 132 multiprocessors that each pull a KiB "
        "in 17 ns, measured with the kernel that stages operands (docs/journal/2026-11-21-panel-kernel.md)"}},
  };
  return table;
}

}  // namespace

std::optional<DeviceCeilings> device_ceilings(const DeviceKey& device) {
  const auto found = std::ranges::find(rows(), device, &Row::device);
  return found == rows().end() ? std::nullopt : std::optional(found->ceilings);
}

}  // namespace esc
