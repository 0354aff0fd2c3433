#include "generator/verify/refused_calls.h"

#include <cstddef>

namespace esc {
namespace {

// As the CUDA runtime numbers them.
constexpr int invalid_value = 1;
constexpr int misaligned_address = 716;

}  // namespace

std::vector<RefusedCall> refused_calls(const ProductArguments& good, bool has_nonzeros) {
  const auto n = static_cast<std::int32_t>(good.n);
  const RefusedCall right{"", good.packed, good.b, n, good.c, n, n, invalid_value};
  std::vector<RefusedCall> calls;
  const auto add = [&](const char* wrong, auto change) {
    RefusedCall call = right;
    call.wrong = wrong;
    change(call);
    calls.push_back(call);
  };
  add("a null packed matrix", [](RefusedCall& call) { call.packed = nullptr; });
  add("a null B", [](RefusedCall& call) { call.b = nullptr; });
  add("a null C", [](RefusedCall& call) { call.c = nullptr; });
  add("no columns", [](RefusedCall& call) { call.n = 0; });
  add("-1 columns", [](RefusedCall& call) { call.n = -1; });
  add("rows of B that are shorter than n", [](RefusedCall& call) { --call.ldb; });
  add("rows of C that are shorter than n", [](RefusedCall& call) { --call.ldc; });
  for (const int shift : {1, 4, 8}) {
    if (has_nonzeros) {
      add("a misaligned packed matrix", [shift](RefusedCall& call) {
        call.packed = static_cast<const std::byte*>(call.packed) + shift;
        call.status = misaligned_address;
      });
    }
  }
  return calls;
}

}  // namespace esc
