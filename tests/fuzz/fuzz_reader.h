#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "generator/matrix/byte_source.h"
#include "generator/matrix/read_options.h"
#include "generator/matrix/sparse_matrix.h"
#include "generator/support/error.h"

namespace esc {

/// What every reader owes for any bytes: a matrix that keeps its invariants, or a UserError. Anything else escapes from
/// here and is a finding.
inline void check_reader(SparseMatrix (*read)(ByteSource&, const ReadOptions&), std::span<const std::byte> bytes) {
  MemorySource source("fuzzed", bytes);
  try {
    validate(read(source, {}));
  } catch (const UserError&) {
  }
}

}  // namespace esc

/// Defines the entry point of libFuzzer for one reader.
#define ESC_FUZZ_READER(read)                                                         \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
    esc::check_reader(read, std::as_bytes(std::span(data, size)));                    \
    return 0;                                                                         \
  }
