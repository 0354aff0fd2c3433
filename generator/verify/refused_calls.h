// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/verify/c_call.h"

namespace esc {

/// A call of a kernel's C function that must be refused, with nothing launched and nothing written.
struct RefusedCall {
  std::string wrong;  ///< "a null B"
  ProductArguments arguments;
  int status = 0;  ///< the cudaError_t that the C interface promises
};

/// Calls in which one argument alone breaks what the C interface says. A layer without a kernel does not look
/// at where its packed matrix is. `good` is a call that is in order, without gaps between rows; what it counts has
/// `item_columns` columns of C each.
std::vector<RefusedCall> refused_calls(const ProductArguments& good, std::int64_t item_columns, bool has_kernel);

/// A call of NAME_unpack or NAME_values of which the same is true.
struct RefusedUnpacking {
  std::string wrong;
  UnpackArguments arguments;
  int status = 0;
};

/// As refused_calls and unprepared_call say them. `good` has no gaps between rows.
std::vector<RefusedUnpacking> refused_unpackings(const UnpackArguments& good);
RefusedUnpacking unprepared_unpacking(const UnpackArguments& good);

/// The call that is in order, on a device where nobody has prepared the kernel, of one that must be.
RefusedCall unprepared_call(const ProductArguments& good);
/// The same where CUDA does not say how much shared memory the kernel has there.
RefusedCall unexplained_call(const ProductArguments& good);

}  // namespace esc
