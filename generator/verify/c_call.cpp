// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/c_call.h"

#include <ffi.h>

#include "generator/support/error.h"

namespace esc {
namespace {

ffi_type* type_of(const CArgument& argument) {
  struct Type {
    ffi_type* operator()(const void*) const { return &ffi_type_pointer; }
    ffi_type* operator()(std::int64_t) const { return &ffi_type_sint64; }
    ffi_type* operator()(std::int32_t) const { return &ffi_type_sint32; }
    ffi_type* operator()(float) const { return &ffi_type_float; }
    ffi_type* operator()(double) const { return &ffi_type_double; }
  };
  return std::visit(Type{}, argument);
}

}  // namespace

int call_product(void* function, const ProductArguments& arguments) {
  std::vector<CArgument> all{arguments.packed, arguments.b, arguments.ldb, static_cast<const void*>(arguments.c),
                             arguments.ldc};
  all.insert(all.end(), arguments.operands.begin(), arguments.operands.end());
  all.insert(all.end(), {CArgument(arguments.n), CArgument(static_cast<const void*>(arguments.stream))});
  std::vector<ffi_type*> types;
  std::vector<void*> places;
  for (CArgument& one : all) {
    types.push_back(type_of(one));
    places.push_back(std::visit([](auto& value) { return static_cast<void*>(&value); }, one));
  }
  ffi_cif signature;
  const ffi_status prepared =
      ffi_prep_cif(&signature, FFI_DEFAULT_ABI, static_cast<unsigned>(all.size()), &ffi_type_sint32, types.data());
  ESC_CHECK(prepared == FFI_OK, "a function of plain arguments can be called");
  ffi_arg status = 0;
  ffi_call(&signature, reinterpret_cast<void (*)()>(function), &status, places.data());
  return static_cast<int>(status);
}

}  // namespace esc
