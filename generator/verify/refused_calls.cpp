// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/refused_calls.h"

#include <fmt/format.h>

#include <cstddef>
#include <limits>

namespace esc {
namespace {

// As the CUDA runtime numbers them.
constexpr int invalid_value = 1;
constexpr int not_ready = 600;
constexpr int misaligned_address = 716;

}  // namespace

std::vector<RefusedCall> refused_calls(const ProductArguments& good, std::int64_t item_columns, bool has_kernel) {
  std::vector<RefusedCall> calls;
  const auto add = [&](const std::string& wrong, auto change, int status = invalid_value) {
    RefusedCall call{wrong, good, status};
    change(call.arguments);
    calls.push_back(std::move(call));
  };
  add("a null packed matrix", [](ProductArguments& call) { call.packed = nullptr; });
  add("a null B", [](ProductArguments& call) { call.b = nullptr; });
  add("a null C", [](ProductArguments& call) { call.c = nullptr; });
  add("no columns", [](ProductArguments& call) { call.n = 0; });
  add("-1 columns", [](ProductArguments& call) { call.n = -1; });
  add("-2 columns", [](ProductArguments& call) { call.n = -2; });
  add("the least number of columns", [](ProductArguments& call) { call.n = std::numeric_limits<std::int32_t>::min(); });
  if (item_columns > 1) {
    constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
    const auto counted = static_cast<std::int32_t>(most / item_columns);
    for (const std::int32_t items : {counted + 1, counted + (most - counted) / 3, most}) {
      add("more items than have their columns counted", [items](ProductArguments& call) { call.n = items; });
    }
  }
  // `good` has no gaps: each is less than the least.
  const auto add_short = [&](const std::string& what, std::int64_t ProductArguments::* distance) {
    for (const std::int64_t shorter : {good.*distance - 1, good.*distance - 2, good.*distance - 3, std::int64_t{0},
                                       std::int64_t{-1}, -(good.*distance)}) {
      add(what, [&](ProductArguments& call) { call.*distance = shorter; });
    }
  };
  add_short("rows of B that are too short", &ProductArguments::ldb);
  add_short("rows of C that are too short", &ProductArguments::ldc);
  for (std::size_t at = 0; at < good.operands.size(); ++at) {
    if (std::holds_alternative<const void*>(good.operands[at])) {
      add(fmt::format("a null pointer after C, argument {},", at),
          [at](ProductArguments& call) { call.operands[at] = static_cast<const void*>(nullptr); });
    } else if (std::holds_alternative<std::int64_t>(good.operands[at])) {
      // It has a gap of one element at most.
      add(fmt::format("rows that are too short after C, argument {},", at),
          [at](ProductArguments& call) { call.operands[at] = std::get<std::int64_t>(call.operands[at]) - 2; });
    }
  }
  for (const int shift : {1, 2, 4, 8, 12}) {
    if (has_kernel) {
      add(
          "a misaligned packed matrix",
          [shift](ProductArguments& call) { call.packed = static_cast<const std::byte*>(call.packed) + shift; },
          misaligned_address);
    }
  }
  return calls;
}

std::vector<RefusedUnpacking> refused_unpackings(const UnpackArguments& good) {
  std::vector<RefusedUnpacking> calls;
  const auto add = [&](const std::string& wrong, auto change, int status = invalid_value) {
    RefusedUnpacking call{wrong, good, status};
    change(call.arguments);
    calls.push_back(std::move(call));
  };
  add("a null packed matrix", [](UnpackArguments& call) { call.packed = nullptr; });
  add("a null A", [](UnpackArguments& call) { call.a = nullptr; });
  for (const std::int64_t shorter : {good.lda - 1, good.lda - 2, std::int64_t{0}, std::int64_t{-1}, -good.lda}) {
    add("rows of A that are too short", [shorter](UnpackArguments& call) { call.lda = shorter; });
  }
  for (const int shift : {1, 2, 4, 8, 12}) {
    add(
        "a misaligned packed matrix",
        [shift](UnpackArguments& call) { call.packed = static_cast<std::byte*>(call.packed) + shift; },
        misaligned_address);
  }
  return calls;
}

RefusedUnpacking unprepared_unpacking(const UnpackArguments& good) {
  return {"a device that was not prepared", good, not_ready};
}

RefusedCall unprepared_call(const ProductArguments& good) {
  return {"a device that was not prepared", good, not_ready};
}

RefusedCall unexplained_call(const ProductArguments& good) {
  return {"a device that was not prepared, where the kernel's attributes cannot be had,", good, invalid_value};
}

}  // namespace esc
