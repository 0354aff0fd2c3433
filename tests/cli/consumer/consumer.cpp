// SPDX-License-Identifier: Apache-2.0
// A user's program: several bundles side by side, without a GPU.
//
//   consumer BUNDLES

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "all_zero.h"
#include "awkward.h"
#include "digits_hidden.h"
#include "one_row.h"

namespace {

/// A bundle's functions; the device's are only linked.
struct Bundle {
  const char* name;
  size_t (*packed_bytes)();
  int (*load)(const char*, void*);
  const char* (*error)();
  int (*transform)(const float*, int64_t, void*);
  cudaError_t (*prepare)();
  cudaError_t (*spmm)(const void*, const float*, int64_t, float*, int64_t, int32_t, cudaStream_t);
};

bool check(const Bundle& bundle, const std::string& folder) {
  std::vector<double> packed(bundle.packed_bytes() / sizeof(double));
  const std::string file = folder + "/" + bundle.name + "/" + bundle.name + ".packed";
  if (bundle.load(file.c_str(), packed.data()) != 0 || *bundle.error() != '\0') {
    std::printf("%s: %s\n", bundle.name, bundle.error());
    return false;
  }
  // Refusals must not need a GPU either.
  return bundle.load("absent", packed.data()) == 3 && bundle.transform(nullptr, 1, packed.data()) == 1 &&
         bundle.spmm(nullptr, nullptr, 1, nullptr, 1, 1, nullptr) == cudaErrorInvalidValue && bundle.prepare != nullptr;
}

}  // namespace

int main(int, char** arguments) {
#define BUNDLE(name)                                                                                               \
  {                                                                                                                \
    #name, name##_packed_bytes, name##_load, name##_transform_error, name##_transform, name##_prepare, name##_spmm \
  }
  for (const Bundle& bundle :
       {Bundle BUNDLE(digits_hidden), Bundle BUNDLE(awkward), Bundle BUNDLE(one_row), Bundle BUNDLE(all_zero)}) {
    if (!check(bundle, arguments[1])) {
      std::printf("%s is not usable\n", bundle.name);
      return 1;
    }
  }
  std::puts("four bundles are usable");
  return 0;
}
