#pragma once

#include <string>

namespace esc {

/// Where the input loop nest comes from: a C file or, where none is named, the shipped product with an epilogue of shipped parts.
struct NestSource {
  std::string file;      ///< empty: the shipped SpMM
  std::string epilogue;  ///< "bias+relu"; empty: C is the sums
};

}  // namespace esc
