// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "generator/confine/confined_process.h"
#include "generator/confine/shared_memory.h"
#include "generator/emulate/watched.h"
#include "generator/matrix/matrix_shape.h"
#include "generator/verify/bundle_interface.h"

namespace esc {

/// A transformer's text, emulated in a process without rights. What it packs is for who asks to compare: the text may
/// have taken that process over.
class ConfinedTransformer {
 public:
  /// Compiles the text of `name`_transformer.cpp there. `matrix` must outlive this; it will be packed into
  /// `packed_bytes`, from dense where it has no more than `most_dense_elements`. Throws UserError for a text that does
  /// not compile, ConfinedEnd as ConfinedProcess does.
  ConfinedTransformer(const std::string& text, const std::string& name, const SparseMatrix& matrix,
                      std::size_t packed_bytes, std::int64_t most_dense_elements, const Allowance& allowance, Watched watched);

  /// Bytes that the text says it writes. Where they are not those that were expected, nothing may be packed.
  std::uint64_t packed_bytes() const { return packed_bytes_; }
  /// Its C interface. Any argument may be null or misaligned, as a caller's may be; arrays are as large as the interface says,
  /// with some room for gaps between rows and for stored zeros. They refer to this object, and throw as its constructor does.
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
    Layout(const SparseMatrix& matrix, std::size_t packed_bytes, std::int64_t most_dense_elements);

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
                    const SharedPlace& memory, Watched watched);
  int transform(const void* a, std::int64_t lda, void* packed);
  int transform_csr(const std::int32_t* offsets, const std::int32_t* columns, const void* values, void* packed);
  /// Where the copy of an array is, whose address has the same alignment, as the process is told.
  std::uint64_t copied(const Place& place, const void* array, std::size_t bytes);
  /// The status of a call that writes to `packed`, once it stands there.
  int packed_answer(const Message& request, void* packed);
  int load(const PackedFile& file, void* packed);
  std::string error();

  const SparseMatrix& matrix_;
  Layout layout_;
  SharedMemory memory_;
  ConfinedProcess process_;
  std::uint64_t packed_bytes_ = 0;
};

}  // namespace esc
