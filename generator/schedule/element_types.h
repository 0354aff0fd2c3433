// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace esc {

/// Element types for which schedules are measured, by the names that records and databases have for them.
inline constexpr std::array<std::string_view, 5> measured_types{"f32", "f64", "f16", "bf16", "tf32"};

/// Whether elements of the type have 16 bits.
bool is_half_type(std::string_view dtype);

/// Bytes of an element of one of these types.
int bytes_of_type(std::string_view dtype);

/// What types have in common whose kernels differ in nothing that takes time: the name of one of them. Both types of 16
/// bits take as many bytes, and their products as long.
std::string arithmetic_of(std::string_view dtype);

/// Bytes of a number in a kernel that multiplies without tensor cores: one of 16 bits is converted where it is read.
int value_bytes(std::string_view dtype);

/// The types whose measurements say something of schedules for this one, the nearest first: itself, for one of 16 bits
/// the other one, which takes as many bytes and goes through the same packed tiles, and then f32, which takes as many
/// as tf32, and whose kernels those of f64 are.
std::vector<std::string> types_like(std::string_view dtype);

}  // namespace esc
