// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "generator/emit/layer.h"

namespace esc {

/// A number of a packed matrix, or several of a kind, that a kernel which layers share is told by its caller. In the kernel of one layer it is a
/// constant of the text.
struct ToldNumber {
  std::string type;
  std::string name;
  std::vector<std::uint64_t> values;
  bool is_list = false;
  std::string why = {};
};

/// What the kernel reads its packed matrix by, and what its launcher is told beside that. Both are empty for the kernel of one layer.
struct ToldNumbers {
  std::vector<ToldNumber> of_kernel;
  std::vector<ToldNumber> of_launcher;

  /// All values, in the order in which the launcher has them in `numbers`.
  std::vector<std::uint64_t> values() const;
};
ToldNumbers told_numbers(const Layer& layer);

/// Whether the layer's kernel is told its numbers.
bool is_told(const Layer& layer);

/// The kernel's first parameter as its functions have it: "struct PackedMatrix {...};", and "" for the kernel of one layer.
std::string packed_matrix_text(const ToldNumbers& numbers);

/// What stands for the packed matrix in the holes of instructions.
std::map<std::string, std::string> packed_matrix_holes(const LoopNest& nest);

/// The statements of a launcher that make that parameter, `bytes`, and its own numbers of what it is called with.
std::string packed_matrix_argument(const Layer& layer);

/// The layer with a kernel that is told its numbers.
Layer told_layer(Layer layer);

}  // namespace esc
