// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/warpgroup_text.h"

#include <fmt/format.h>

#include <functional>
#include <string>

namespace esc {
namespace {

/// What `text(0)` to `text(count - 1)` are, with commas between them.
template <typename Text>
std::string listed(std::int64_t count, const Text& text) {
  std::string result;
  for (std::int64_t number = 0; number < count; ++number) {
    result += (number == 0 ? "" : ", ") + text(number);
  }
  return result;
}

/// A product of four warps: its name after the columns, what is after its predicate, the registers of A, whether
/// sums are added to, and which of them are its operands.
struct WarpgroupProduct {
  std::int64_t columns;
  std::string form;
  const char* signs;
  const char* a;
  const char* adds;
  std::function<std::int64_t(std::int64_t)> sum;
};

std::string product_text(const WarpgroupProduct& product) {
  const std::int64_t sums = product.columns / 2;
  const auto operand = [](std::int64_t number) { return fmt::format("%{}", number); };
  return fmt::format(
      "asm volatile(\n"
      "      \"{{\\n\"\n"
      "      \".reg .pred adds;\\n\"\n"
      "      \"setp.ne.b32 adds, %{5}, 0;\\n\"\n"
      "      \"wgmma.mma_async.sync.aligned.m64n{0}{6} {{{1}}}, {{{2}}}, %{4}, adds, {7};\\n\"\n"
      "      \"}}\"\n"
      "      : {3}\n"
      "      : {8}, \"l\"(matrix), \"r\"({9}));",
      product.columns, listed(sums, operand), listed(4, [&](std::int64_t number) { return operand(sums + number); }),
      listed(sums, [&](std::int64_t number) { return fmt::format("\"+f\"(sums[{}])", product.sum(number)); }), sums + 4,
      sums + 5, product.form, product.signs,
      listed(4, [&](std::int64_t number) { return fmt::format("\"r\"({}[{}])", product.a, number); }), product.adds);
}

}  // namespace

std::int64_t product_rows(std::int64_t block_rows, const ProductRegisters& registers) {
  const std::int64_t of_split = registers.has_many_registers ? 176 : 64;
  const std::int64_t of_rounded = registers.has_many_registers ? 192 : 96;
  constexpr std::int64_t few = 32;
  constexpr std::int64_t step = 8;  // that the instruction allows
  const auto most_up_to = [&](std::int64_t most) {
    std::int64_t found = most;
    while (block_rows % found != 0) {
      found -= step;
    }
    return found;
  };
  const std::int64_t found = most_up_to(registers.splits ? of_split : of_rounded);
  return found < few ? most_up_to(of_rounded) : found;
}

std::string warpgroup_product_text(std::int64_t rows, bool of_halves) {
  return product_text({.columns = rows,
                       .form = of_halves ? "k16.f32.f16.f16" : "k8.f32.tf32.tf32",
                       .signs = of_halves ? "1, 1, 0" : "1, 1",
                       .a = "b",
                       .adds = "static_cast<int>(adds)",
                       .sum = [](std::int64_t number) { return number / 4 * 4 + number % 2 * 2 + number / 2 % 2; }});
}

std::string wgmma_text(std::int64_t columns, const char* types, bool transposed) {
  return product_text({.columns = columns,
                       .form = fmt::format("k16.f32.{}", types),
                       .signs = transposed ? "1, 1, 1" : "1, 1, 0",
                       .a = "a",
                       .adds = "1",
                       .sum = [](std::int64_t number) { return number; }});
}

const char* warp_product_shape(bool of_halves) {
  return of_halves ? "m16n8k16.row.col.f32.f16.f16.f32" : "m16n8k8.row.col.f32.tf32.tf32.f32";
}

}  // namespace esc
