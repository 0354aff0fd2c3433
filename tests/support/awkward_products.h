#pragma once

#include <cstdint>
#include <vector>

#include "generator/verify/product_case.h"

namespace esc::tests {

/// The products that a kernel made for bCol is tried on: the judging cases, each reason why vectors may not be used
/// alone (B, C, or the rows of either unaligned), and more columns than it was made for.
std::vector<ProductCase> awkward_products(std::int64_t bcol);

}  // namespace esc::tests
