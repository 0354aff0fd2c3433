// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/layout.h"

namespace esc {

/// The layout with one digit, and one dimension, in place of those of a row that only go on counting where those in
/// front stop, as channels and taps of a matrix of weights. Extents of all digits but the first are numbers.
Layout join_rows(Layout layout);

/// The same of columns, as the lines of an image. The first digit, which counts the items of a call, and the outermost
/// dimension, whose indices are a leading dimension apart, stay by themselves: each element is where it was.
Layout join_columns(Layout layout);

/// Whether a column has its rows one after the other, and columns are a leading dimension apart.
bool has_whole_columns(const Layout& layout);

}  // namespace esc
