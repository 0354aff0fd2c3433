// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace esc {

/// Refuses a file of another kind than matrices and models are, told by its first bytes or by its ending: what is
/// in place of a file (a pointer of Git LFS, a page of a server), what is packed, and formats of models that are not
/// read: pickles, which are programs - to read one is to run it -, GGUF, ONNX, HDF5 and others. Throws UserError with
/// what it is and how to come to a .safetensors file. A path that is no regular file is left to its reader.
void refuse_foreign_file(const std::filesystem::path& path);

}  // namespace esc
