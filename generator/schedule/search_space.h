// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule.h"

namespace esc {

/// "atomic", "bitmap", "gather", "panel", "rows", "stream".
const std::set<std::string>& all_families();

/// Those that are tried where nothing else is said: all but "atomic", whose kernels are the paper's, for comparisons.
const std::set<std::string>& usual_families();

/// Those of the families that have kernels for such elements and such a layout.
std::set<std::string> families_for(const std::set<std::string>& families, const std::string& dtype,
                                   const std::string& layout);

/// The schedules among which the fastest one for a product's columns is looked for: for each family the values of its
/// parameters that measurements found worth a try, as far as the family's own rules allow them for these columns;
/// without repetitions, in a fixed order, with programmatic dependent launches. Where
/// columns are not one after the other, a lane has 8 or 16 of them, and lanes that share a column of A take other
/// columns of A rather than of C. Those of bitmaps that take two of each four elements are there for matrices that
/// allow it (`sparse24`). Throws UserError for a family that there is not and for less than one column.
std::vector<Schedule> search_space(const ProductColumns& columns, const std::set<std::string>& families,
                                   bool sparse24 = false);

/// That of a layer's product in the usual families. A model of many layers asks for few spaces, many times: each thread
/// keeps those that it has asked for.
const std::vector<Schedule>& usual_space(const LayerShape& shape);

}  // namespace esc
