#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace esc {

/// Arguments of a call that is in order, without gaps between rows.
struct ProductArguments {
  const void* packed = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  std::int64_t n = 1;
};

/// A call of a kernel's C function that must be refused, with nothing launched and nothing written.
struct RefusedCall {
  std::string wrong;  ///< "a null B"
  const void* packed = nullptr;
  const void* b = nullptr;
  std::int64_t ldb = 0;
  void* c = nullptr;
  std::int64_t ldc = 0;
  std::int32_t n = 0;
  int status = 0;  ///< the cudaError_t that the C interface promises
};

/// Calls in which one argument alone breaks what the C interface says. A layer without non-zeros has no kernel, and does not look
/// at where its packed matrix is.
std::vector<RefusedCall> refused_calls(const ProductArguments& good, bool has_nonzeros);

}  // namespace esc
