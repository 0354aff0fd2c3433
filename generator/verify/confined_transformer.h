// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "generator/confine/confined_process.h"
#include "generator/confine/shared_memory.h"
#include "generator/emulate/watched.h"
#include "generator/matrix/matrix_shape.h"
#include "generator/verify/bundle_interface.h"
#include "generator/verify/other_patterns.h"

namespace esc {

/// A transformer's text, emulated in a process without rights. What it packs is for who asks to compare: the text may
/// have taken that process over.
class ConfinedTransformer {
 public:
  /// Compiles the text of `name`_transformer.cpp there. `matrix` must outlive this; it will be packed into `packed`'s
  /// size, from dense where it has no more than `most_dense_elements`, and other patterns into some more where the
  /// kernel takes any. Throws UserError for a text that does not compile, ConfinedEnd as ConfinedProcess does.
  ConfinedTransformer(const std::string& text, const std::string& name, const SparseMatrix& matrix,
                      std::span<const std::byte> packed, std::int64_t most_dense_elements, bool any_pattern,
                      const Allowance& allowance, Watched watched);

  /// Bytes that the text says it writes. Where they are not those that were expected, nothing may be packed.
  std::uint64_t packed_bytes() const { return packed_bytes_; }
  /// Its C interface. Any argument may be null or misaligned, as a caller's may be; arrays are as large as the
  /// interface says, with some room for gaps between rows and for stored zeros. They refer to this object, and throw as
  /// its constructor does.
  TransformerFunctions functions();
  /// The messages of the faults of all calls so far.
  std::vector<std::string> faults();

 private:
  /// A place for one array in the shared memory.
  struct Place {
    std::size_t begin;
    std::size_t bytes;
  };
  /// The places of all arrays.
  struct Layout {
    Layout(const SparseMatrix& matrix, std::size_t packed_bytes, std::int64_t most_dense_elements,
           const FurtherRoom& further);

    std::size_t packed_bytes;
    PartsOfMemory parts;
    Place packed;
    Place dense;
    Place offsets;
    Place columns;
    Place values;
    Place file;
  };

  static void serve(const Channel& channel, const std::string& text, const std::string& name, const MatrixShape& shape,
                    bool any_pattern, const SharedPlace& memory, Watched watched);
  int transform(const void* a, std::int64_t lda, void* packed);
  int transform_csr(const std::int32_t* offsets, const std::int32_t* columns, const void* values, void* packed);
  int transform_into(const void* a, std::int64_t lda, void* packed, std::size_t bytes);
  int transform_csr_into(const std::int32_t* offsets, const std::int32_t* columns, const void* values, void* packed,
                         std::size_t bytes);
  std::size_t bytes_for(const void* a, std::int64_t lda);
  std::size_t bytes_for_csr(const std::int32_t* offsets, const std::int32_t* columns, const void* values);
  /// What the process is told of a caller's matrix, whose arrays are copied there.
  std::vector<std::uint64_t> told(const void* a, std::int64_t lda);
  std::vector<std::uint64_t> told(const std::int32_t* offsets, const std::int32_t* columns, const void* values);
  /// Where the copy of an array is, whose address has the same alignment, as the process is told.
  std::uint64_t copied(const Place& place, const void* array, std::size_t bytes);
  /// The status of a call that writes so many bytes to `packed`, once they are there; its number is the last one.
  int packed_answer(std::uint32_t kind, std::vector<std::uint64_t> numbers, void* packed, std::size_t bytes);
  std::size_t bytes_answer(std::uint32_t kind, std::vector<std::uint64_t> numbers);
  int load(const PackedFile& file, void* packed);
  std::string error();

  const SparseMatrix& matrix_;
  bool any_pattern_;
  Layout layout_;
  SharedMemory memory_;
  ConfinedProcess process_;
  std::uint64_t packed_bytes_ = 0;
};

}  // namespace esc
