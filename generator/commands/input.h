#pragma once

#include <cstdint>
#include <string>

#include "generator/ir/loop_nest.h"
#include "generator/matrix/sparse_matrix.h"

namespace esc {

/// The loop nest of a C file, or of the shipped templates/spmm.c when `file` is empty.
LoopNest read_loop_nest(const std::string& file);

/// A valid C identifier made of a matrix file's name: "ffn-1.smtx" -> "ffn_1".
std::string default_name(const std::string& matrix_file);

/// Throws UserError when the name cannot be the prefix of C symbols and file names.
void check_name(const std::string& name);

}  // namespace esc
