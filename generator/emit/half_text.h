// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "generator/ir/loop_nest.h"

namespace esc {

// Elements of 16 bits in the text of a kernel: kept in memory and moved as they are, computed with in 32 bits.
// Conversions are called by their names: programs are built with implicit ones switched off.

/// An element of this type as a number that is computed with.
std::string widened(ScalarType type, const std::string& element);
/// The nearest element of this type to a number that was computed.
std::string narrowed(ScalarType type, const std::string& number);

/// An element whose value is zero.
const char* zero_of(ScalarType type);

/// The type in a header that is read as C and as C++: a structure that cuda_fp16.h or cuda_bf16.h defines is declared
/// there, no more.
const char* declared_name(ScalarType type);
/// That declaration; empty where none is needed.
std::string declaration_of(ScalarType type);

/// The header that declares the type; empty where none does.
std::string include_of(ScalarType type);

/// The holes of instructions' texts in which elements and sums differ.
std::map<std::string, std::string> element_holes(const LoopNest& nest);

}  // namespace esc
