// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "generator/model/tensor.h"

namespace esc {

/// The ending of the file that says in which file each tensor of a large model is.
inline constexpr const char* shard_index_ending = ".safetensors.index.json";

/// The tensors of a model of several files, from its index {"metadata": ..., "weight_map": {"TENSOR": "FILE", ...}}:
/// those of all files that it names, which lie beside it. Throws UserError for an index that is none, for a file that
/// is missing or named by a path, and for a tensor that is not in the file which it is said to be in, or is in two.
std::vector<StoredTensor> read_shards(const std::filesystem::path& index);

}  // namespace esc
