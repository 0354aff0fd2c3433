// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace esc {

/// What lanes of a warp do together.
enum class WarpOperationKind : std::uint8_t {
  sync,
  vote,
  shuffle_index,
  shuffle_up,
  shuffle_down,
  shuffle_xor,
  load_matrices,
  transpose_matrix,
  multiply_matrices,
  named_barrier,
  named_arrival,
  fence_products,
  issue_product,
  commit_products,
  wait_for_products,
  exchange_registers
};

/// Whether all lanes must take part: none may have returned, and the block may not end within the warp.
bool needs_whole_warp(WarpOperationKind kind);

const char* to_string(WarpOperationKind kind);

/// An operation that lanes are waiting in.
struct WarpOperation {
  WarpOperationKind kind = WarpOperationKind::sync;
  std::uint32_t mask = 0;
  std::uint32_t site = 0;
  std::uint32_t arrived = 0;
};

/// The lane that `lane` takes its value from in a shuffle, by the rules of the hardware; `lane` itself where the source
/// falls outside its segment of `width` lanes.
std::uint32_t shuffle_source(WarpOperationKind kind, std::uint32_t lane, std::int32_t argument, std::uint32_t width);

/// One warp of the running block.
struct Warp {
  std::uint32_t gone = 0;  ///< lanes that have returned or never were
  std::vector<WarpOperation> pending;
  std::array<std::uint64_t, 32> value{};
  std::array<std::int32_t, 32> argument{};
  std::array<std::uint32_t, 32> width{};
  std::array<std::uint64_t, 32> result{};

  bool is_complete(const WarpOperation& operation) const {
    return operation.arrived != 0 && (operation.mask & ~gone) == operation.arrived;
  }
};

}  // namespace esc
