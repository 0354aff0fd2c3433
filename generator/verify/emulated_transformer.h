// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "generator/emulate/device.h"
#include "generator/emulate/host_program.h"
#include "generator/matrix/matrix_shape.h"
#include "generator/verify/bundle_interface.h"

namespace esc {

/// A transformer's text, run in this process. Where every access is watched, the caller's arrays, as large as the
/// matrix makes them, are the only memory that it may touch.
class EmulatedTransformer {
 public:
  /// Compiles the text of `name`_transformer.cpp, for a matrix of this shape. It has the functions for any pattern
  /// where the kernel takes any.
  EmulatedTransformer(const std::string& text, const std::string& name, const MatrixShape& matrix, bool any_pattern,
                      Watched watched = Watched::accesses);

  /// Its C interface; a call that ends in a fault returns an error. They refer to this object.
  TransformerFunctions functions();
  /// With the faults of all calls so far.
  const EmulatedDevice& device() const { return device_; }

 private:
  /// A caller's matrix, as either form of a function takes it.
  struct Dense {
    const void* a;
    std::int64_t lda;
  };
  struct Csr {
    const std::int32_t* offsets;
    const std::int32_t* columns;
    const void* values;
  };

  class Arrays;

  void add(Arrays& arrays, const Dense& matrix) const;
  void add(Arrays& arrays, const Csr& matrix) const;
  int transform(const Dense& matrix, void* packed);
  int transform(const Csr& matrix, void* packed);
  int transform_into(const Dense& matrix, void* packed, std::size_t bytes);
  int transform_into(const Csr& matrix, void* packed, std::size_t bytes);
  std::size_t bytes_for(const Dense& matrix);
  std::size_t bytes_for(const Csr& matrix);
  int load(const PackedFile& file, void* packed);
  std::string error();

  std::string name_;
  MatrixShape matrix_;
  bool any_pattern_;
  HostProgram program_;
  EmulatedDevice device_;
  std::size_t packed_bytes_ = 0;
};

}  // namespace esc
