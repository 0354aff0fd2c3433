#include "tests/support/awkward_products.h"

#include <utility>

namespace esc::tests {

std::vector<ProductCase> awkward_products(std::int64_t bcol) {
  std::vector<ProductCase> products = judging_cases(bcol);
  const auto n = static_cast<std::int32_t>(bcol);
  const std::int64_t aligned = (bcol / 4 + 2) * 4;  // rows that begin at multiples of 16 bytes, with a gap
  for (const auto& [shift_b, shift_c] : {std::pair{0, 0}, {1, 0}, {0, 1}, {2, 0}, {0, 2}, {2, 2}, {3, 1}}) {
    products.push_back({n, aligned, aligned, shift_b, shift_c});
  }
  products.push_back({n, aligned + 1, aligned});
  products.push_back({n, aligned, aligned + 1});
  products.push_back({n, aligned + 2, aligned + 2});
  for (const std::int32_t wider : {n + 1, n + 9, 2 * n, n + 257}) {
    products.push_back({wider, wider, wider});
    products.push_back({wider, wider + 3, wider + 6, 3, 2});
  }
  return products;
}

}  // namespace esc::tests
