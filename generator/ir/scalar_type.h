// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace esc {

/// The type of an array's elements, of a scalar or of an index. The interpreter computes in double whatever the type;
/// the printed kernel has it. Kernels are printed for f32, f64, f16, bf16 and tf32, which is f32 wherever it lies in
/// memory, but whose factors a kernel may round to 11 significant bits, as tensor cores take them.
enum class ScalarType { f32, f64, tf32, f16, bf16, boolean, u8, u16, i32, u32, i64, u64 };

/// The type as CUDA C++ spells it.
const char* c_name(ScalarType type);

/// The type as a nest in C spells it: there 16 bits are numbers of the language.
const char* nest_name(ScalarType type);

/// The type as options and files name it, such as "f32".
const char* name_of(ScalarType type);

/// Bytes of a value in the kernel's memory.
constexpr int bytes_of(ScalarType type) {
  switch (type) {
    case ScalarType::boolean:
    case ScalarType::u8:
      return 1;
    case ScalarType::f16:
    case ScalarType::bf16:
    case ScalarType::u16:
      return 2;
    case ScalarType::f32:
    case ScalarType::tf32:
    case ScalarType::i32:
    case ScalarType::u32:
      return 4;
    case ScalarType::f64:
    case ScalarType::i64:
    case ScalarType::u64:
      break;
  }
  return 8;
}

/// Whether values of the type are indices: whole numbers that may be in subscripts and bounds.
constexpr bool is_index(ScalarType type) { return type >= ScalarType::boolean; }

/// Whether values of the type are numbers of 16 bits: kept in memory alone, computed with as f32.
constexpr bool is_half(ScalarType type) { return type == ScalarType::f16 || type == ScalarType::bf16; }

/// Whether a matrix of such elements has fewer digits than those that readers read, and is rounded after them.
constexpr bool is_rounded(ScalarType type) { return is_half(type) || type == ScalarType::tf32; }

/// The type that values of this one have in memory.
constexpr ScalarType memory_type(ScalarType type) { return type == ScalarType::tf32 ? ScalarType::f32 : type; }

/// The type that a kernel computes in where elements have this one.
constexpr ScalarType sum_type(ScalarType element) { return is_rounded(element) ? ScalarType::f32 : element; }

}  // namespace esc
