// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tests/property/instruction_example.h"

namespace esc::tests {

/// What the example is as CUDA C++: the constants, the texts of its instructions and its kernel as a bundle would have
/// them, and a function that launches it.
std::string text_of(const InstructionExample& example);

/// Runs the text on the emulated grid and interprets the nest, on operands, numbers of columns and gaps between rows
/// that are drawn anew in each round. Empty, or the first fault of the text or element in which the two are not the
/// same to the bit.
std::string difference(const InstructionExample& example, const std::string& text);

}  // namespace esc::tests
