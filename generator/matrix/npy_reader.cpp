// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/npy_reader.h"

#include "generator/matrix/dense_reader.h"
#include "generator/matrix/npy_header.h"

namespace esc {

SparseMatrix read_npy(ByteSource& source, const ReadOptions& options) {
  return read_dense(source, read_npy_header(source).array(), options);
}

}  // namespace esc
