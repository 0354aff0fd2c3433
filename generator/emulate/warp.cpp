// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/warp.h"

namespace esc {

const char* to_string(WarpOperationKind kind) {
  switch (kind) {
    case WarpOperationKind::sync:
      return "__syncwarp";
    case WarpOperationKind::vote:
      return "a vote";
    case WarpOperationKind::shuffle_index:
      return "__shfl_sync";
    case WarpOperationKind::shuffle_up:
      return "__shfl_up_sync";
    case WarpOperationKind::shuffle_down:
      return "__shfl_down_sync";
    case WarpOperationKind::shuffle_xor:
      return "__shfl_xor_sync";
    case WarpOperationKind::load_matrices:
      return "ldmatrix";
    case WarpOperationKind::transpose_matrix:
      return "movmatrix";
    case WarpOperationKind::multiply_matrices:
      return "mma";
    case WarpOperationKind::named_barrier:
      return "bar.sync";
    case WarpOperationKind::named_arrival:
      return "bar.arrive";
    case WarpOperationKind::fence_products:
      return "wgmma.fence";
    case WarpOperationKind::issue_product:
      return "wgmma.mma_async";
    case WarpOperationKind::commit_products:
      return "wgmma.commit_group";
    case WarpOperationKind::wait_for_products:
      return "wgmma.wait_group";
    case WarpOperationKind::exchange_registers:
      return "setmaxnreg";
  }
  return "a warp operation";
}

bool needs_whole_warp(WarpOperationKind kind) {
  switch (kind) {
    case WarpOperationKind::sync:
    case WarpOperationKind::vote:
    case WarpOperationKind::shuffle_index:
    case WarpOperationKind::shuffle_up:
    case WarpOperationKind::shuffle_down:
    case WarpOperationKind::shuffle_xor:
      return false;
    default:
      return true;
  }
}

std::uint32_t shuffle_source(WarpOperationKind kind, std::uint32_t lane, std::int32_t argument, std::uint32_t width) {
  const auto operand = static_cast<std::uint32_t>(argument) & 31;
  const std::uint32_t first = lane & ~(width - 1);
  const std::uint32_t last = first + width - 1;
  switch (kind) {
    case WarpOperationKind::shuffle_index:
      return first + (operand & (width - 1));
    case WarpOperationKind::shuffle_up:
      return lane < first + operand ? lane : lane - operand;
    case WarpOperationKind::shuffle_down:
      return lane + operand > last ? lane : lane + operand;
    case WarpOperationKind::shuffle_xor:
      return (lane ^ operand) > last ? lane : lane ^ operand;
    default:
      break;
  }
  return lane;
}

}  // namespace esc
