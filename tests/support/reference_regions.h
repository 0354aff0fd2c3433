#pragma once

#include "generator/ir/interpret.h"
#include "generator/matrix/sparse_matrix.h"
#include "generator/schedule/schedule.h"

namespace esc::tests {

/// The regions of a matrix as arrays of the nest after transform(A, regions, ..).
struct ReferenceRegions {
  Tensor steps;    ///< [region]
  Tensor columns;  ///< [region][step][lane group]; -1 behind the steps of a region, which nothing may read
  Tensor values;   ///< [region][step][lane group][row of the panel]; NaN there
};

/// The regions that `schedule` asks for, written down from their description, without the packer: the columns of a
/// panel are collected and dealt to the parts one by one, then every list is filled up to the longest of its region.
ReferenceRegions reference_regions(const SparseMatrix& matrix, const PanelSchedule& schedule);

}  // namespace esc::tests
