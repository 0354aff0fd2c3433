// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace esc {

/// How the shipped nests have B and C.
enum class NestLayout {
  kn,  ///< B is K x N and C is M x N
  nk   ///< both transposed, as PyTorch has them: a row of B and of C for each token
};

/// What --layout says of itself.
inline constexpr const char* layout_help =
    "kn: B is K x N and C is M x N (default); nk: B is N x K and C is N x M, as PyTorch has them; of the shipped "
    "product, not with --kernel";

/// The one of this name. Throws UserError.
NestLayout parse_layout(const std::string& name);

/// "kn" or "nk".
const char* name_of(NestLayout layout);

}  // namespace esc
