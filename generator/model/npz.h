// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "generator/model/weight.h"

namespace esc {

/// The weights of a .npz file: the one matrix that scipy.sparse.save_npz has written, whose name is "matrix", or the
/// arrays of numpy.savez by their names. Of the arrays their headers are read alone, and of SciPy's the ones that say
/// format and shape. Throws UserError, with the array's name and the byte, for an archive (zip_archive.h) or a header
/// that is none, and for arrays that are no matrix of SciPy.
std::vector<Weight> read_npz(const std::shared_ptr<const StoredBytes>& file);

}  // namespace esc
