// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "generator/emulate/device.h"
#include "generator/emulate/host_program.h"
#include "generator/matrix/matrix_shape.h"
#include "generator/verify/bundle_interface.h"

namespace esc {

/// A transformer's text, run in this process. Where every access is watched, the caller's arrays, as large as the matrix
/// makes them, are the only memory that it may touch.
class EmulatedTransformer {
 public:
  /// Compiles the text of `name`_transformer.cpp, for a matrix of this shape.
  EmulatedTransformer(const std::string& text, const std::string& name, const MatrixShape& matrix,
                      Watched watched = Watched::accesses);

  /// Its C interface; a call that ends in a fault returns an error. They refer to this object.
  TransformerFunctions functions();
  /// With the faults of all calls so far.
  const EmulatedDevice& device() const { return device_; }

 private:
  int transform(const void* a, std::int64_t lda, void* packed);
  int transform_csr(const std::int32_t* offsets, const std::int32_t* columns, const void* values, void* packed);
  int load(const PackedFile& file, void* packed);
  std::string error();

  std::string name_;
  MatrixShape matrix_;
  HostProgram program_;
  EmulatedDevice device_;
  std::size_t packed_bytes_ = 0;
};

}  // namespace esc
