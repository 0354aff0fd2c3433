// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace esc {

/// Refuses a pickle, which PyTorch saves models in and which is a program: to read it is to run it. It is told by its ending (.pt, .pth, .bin, .ckpt,
/// .pkl) or, under another one, by its first bytes. Throws UserError with the command that makes a .safetensors file of it.
void refuse_pickle(const std::filesystem::path& path);

}  // namespace esc
