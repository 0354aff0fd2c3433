// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "generator/model/tensor.h"

namespace esc {

/// The tensors of a .safetensors file, from its header:
///
///     8 bytes: N, the length of the header
///     N bytes: {"NAME": {"dtype": "F32", "shape": [M, K], "data_offsets": [BEGIN, END]}, ..., "__metadata__": {"KEY":
/// "TEXT", ...}}
///     the tensors, one after the other
///
/// in the order in which they lie there. Throws UserError with the byte and the tensor's name for a header that says
/// anything else: one that is longer than the file, a name twice or one that leads elsewhere (tensor_name.h), an
/// unknown type, a shape of another size than the bytes, bytes that overlap, that no tensor has or that the file does
/// not have.
std::vector<StoredTensor> read_safetensors(const std::shared_ptr<const StoredBytes>& file);

}  // namespace esc
