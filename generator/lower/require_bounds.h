// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/lower/written_product.h"

namespace esc {

/// Makes sure that the product touches no element outside of its arrays, and that it is known where each lies:
///
///   for (p < 8) for (r < 3) if (0 <= 2*p + r - 1 && 2*p + r - 1 < 16) .. X[..][2*p + r - 1]
///
/// An iterator alone runs to the extent that its dimension is declared with. Any other subscript is of numbers that are
/// known, and has a guard where it can leave its dimension; nothing else may have one. Of several iterators that rows,
/// the reduction or columns are made of all extents are known but that of the first one of columns, which is the first
/// or second subscript wherever it is; they make no more than a kernel counts. Throws NestError.
void require_bounds(const LoopNest& nest, const WrittenProduct& written, const RolesOfProduct& roles,
                    const NestedStatement& update);

/// Of an element that rows and columns, or reduction and columns, index: that a call can say where it lies. Throws
/// NestError.
void require_outermost(const WrittenElement& element, const WrittenProduct& written, const RolesOfProduct& roles);

}  // namespace esc
