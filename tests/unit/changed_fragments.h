// SPDX-License-Identifier: Apache-2.0
#pragma once

// What becomes of packed fragments of which one bit is not as it was.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>

#include "tests/unit/fragment_matrices.h"
#include "tests/unit/transformer_matrices.h"
#include "transformer/packed_bytes.h"

namespace esc::transformer {

/// Each changed byte is refused; of the header all are tried, of the payload one in `step`. With checksums that match
/// again a change of a value is another matrix, whose packing is the same.
inline void expect_changed_bytes_refused(const CsrMatrix& matrix, const FragmentCut& cut, std::size_t step) {
  const Packed<FragmentFormat> packed = pack(matrix.view(), cut);
  const ChangeableBytes intact(packed.bytes.span());
  for (std::size_t at = 0; at < intact.bytes().size(); at += at < header_bytes ? 1 : step) {
    ChangeableBytes damaged = intact;
    damaged.bytes()[at] ^= std::byte{1};
    ASSERT_THROW(unpack(damaged.bytes()), FormatError) << "byte " << at;
    if (at < header_bytes) {
      continue;
    }
    damaged.seal();
    try {
      const CsrMatrix other = unpack(damaged.bytes());
      ASSERT_TRUE(std::ranges::equal(pack(other.view(), cut).bytes.span(), damaged.bytes())) << "byte " << at;
      ASSERT_NE(other, matrix) << "byte " << at;
    } catch (const FormatError&) {
    }
  }
}

}  // namespace esc::transformer
