// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

namespace esc {

/// An argument of a C function.
using CArgument = std::variant<const void*, std::int64_t, std::int32_t, float, double>;

/// The arguments of a bundle's product in the order of its C interface: those of the epilogue are after C.
struct ProductArguments {
  const void* packed = nullptr;
  const void* b = nullptr;
  std::int64_t ldb = 1;
  void* c = nullptr;
  std::int64_t ldc = 1;
  std::vector<CArgument> operands = {};
  std::int32_t n = 1;
  void* stream = nullptr;
};

/// NAME_unpack, which writes A from its packed form, or NAME_values, which writes values of A into it.
enum class UnpackFunction { unpack, values };

/// "unpack"
constexpr const char* name_of(UnpackFunction function) {
  return function == UnpackFunction::unpack ? "unpack" : "values";
}
/// What a call of it is, in reports.
constexpr const char* doing(UnpackFunction function) {
  return function == UnpackFunction::unpack ? "unpacking" : "taking values";
}

/// Arguments of either.
struct UnpackArguments {
  void* packed = nullptr;
  void* a = nullptr;
  std::int64_t lda = 1;
  void* stream = nullptr;
};

/// Calls a bundle's function NAME_spmm, whose signature follows from the arguments; the cudaError_t that it returns.
int call_product(void* function, const ProductArguments& arguments);

}  // namespace esc
