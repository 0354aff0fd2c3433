#pragma once

#include <string>
#include <vector>

#include "generator/confine/confined_process.h"
#include "generator/confine/shared_memory.h"
#include "generator/matrix/sparse_matrix.h"
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
                      std::size_t packed_bytes, std::int64_t most_dense_elements, const Allowance& allowance);

  /// Bytes that the text says it writes. Where they are not those that were expected, nothing may be packed.
  std::uint64_t packed_bytes() const { return packed_bytes_; }
  /// Its C interface, for arrays of the matrix's sizes. They refer to this object, and throw as its constructor does.
  TransformerFunctions functions();
  /// The messages of the faults of all calls so far.
  std::vector<std::string> faults();

 private:
  /// Where the arrays stand in the shared memory.
  struct Layout {
    Layout(const SparseMatrix& matrix, std::size_t packed_bytes, std::int64_t most_dense_elements);

    std::size_t element_bytes;
    std::size_t packed_bytes;
    std::size_t dense_bytes;
    std::size_t entries;
    std::size_t rows;
    PartsOfMemory parts;
    std::size_t packed;
    std::size_t dense;
    std::size_t offsets;
    std::size_t columns;
    std::size_t values;
  };

  static void serve(const Channel& channel, const std::string& text, const std::string& name,
                    const SparseMatrix& matrix, const Layout& layout, const SharedMemory& memory);
  int transform(const void* a, std::int64_t lda, void* packed);
  int transform_csr(const std::int32_t* offsets, const std::int32_t* columns, const void* values, void* packed);
  /// The status that the text returns, once what it wrote stands in `packed`.
  int packed_answer(void* packed);
  std::string error();

  Layout layout_;
  SharedMemory memory_;
  ConfinedProcess process_;
  std::uint64_t packed_bytes_ = 0;
};

}  // namespace esc
