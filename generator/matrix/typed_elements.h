// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generator/ir/scalar_type.h"
#include "generator/support/error.h"
#include "transformer/half_floats.h"
#include "transformer/tensor_float.h"

namespace esc {

/// The types that kernels are printed for.
inline constexpr std::array kernel_elements{ScalarType::f32, ScalarType::f64, ScalarType::f16, ScalarType::bf16,
                                            ScalarType::tf32};

/// Their names.
inline std::vector<std::string> kernel_element_names() {
  std::vector<std::string> names;
  for (const ScalarType type : kernel_elements) {
    names.emplace_back(name_of(type));
  }
  return names;
}

/// The same as a sentence lists them: "f32, f64, f16, bf16 or tf32".
inline std::string kernel_element_words() {
  std::string words;
  for (const std::string& name : kernel_element_names()) {
    words += words.empty() ? name : (name == name_of(kernel_elements.back()) ? " or " : ", ") + name;
  }
  return words;
}

/// The type of this name, such as "f64", if kernels are printed for it.
inline std::optional<ScalarType> kernel_element(std::string_view name) {
  for (const ScalarType type : kernel_elements) {
    if (name == name_of(type)) {
      return type;
    }
  }
  return std::nullopt;
}

/// Calls use(T{}) with the C++ type T that elements have in memory: of those types that kernels are printed for.
template <typename Use>
decltype(auto) with_element(ScalarType type, Use&& use) {
  switch (type) {
    case ScalarType::f64:
      return use(double{});
    case ScalarType::f16:
      return use(transformer::Float16{});
    case ScalarType::bf16:
      return use(transformer::BFloat16{});
    default:
      break;
  }
  ESC_CHECK(memory_type(type) == ScalarType::f32, "kernels are printed for " + kernel_element_words());
  return use(float{});
}

/// The type in which readers read the values of a matrix of these elements: those that are rounded after them are
/// rounded once from what the file holds, but for tf32, which is made of float32.
constexpr ScalarType read_type(ScalarType element) { return is_half(element) ? ScalarType::f64 : memory_type(element); }

/// Calls use(T{}) with the C++ type T in which readers read values: double or float.
template <typename Use>
decltype(auto) with_read_type(ScalarType type, Use&& use) {
  ESC_CHECK(type == ScalarType::f32 || type == ScalarType::f64, "matrices are read in f32 or f64");
  return type == ScalarType::f64 ? use(double{}) : use(float{});
}

/// The nearest value of the type. One of tf32 is as near to the float32 of the value.
inline double rounded_to(ScalarType type, double value) {
  if (type == ScalarType::tf32) {
    return transformer::TensorFloat{static_cast<float>(value)}.rounded();
  }
  return with_element(type, [&](auto zero) { return static_cast<double>(static_cast<decltype(zero)>(value)); });
}

/// Elements as a kernel and its caller have them in memory, side by side; what they are is said at run time.
class TypedElements {
 public:
  /// All of them zero.
  TypedElements(ScalarType type, std::size_t count)
      : type_(type), bytes_(count * static_cast<std::size_t>(bytes_of(type))) {}
  /// The values, each rounded to the nearest of the type in memory.
  TypedElements(ScalarType type, std::span<const double> values) : TypedElements(type, values.size()) {
    with_element(type, [&](auto zero) {
      auto* next = elements<decltype(zero)>();
      for (const double value : values) {
        *next++ = static_cast<decltype(zero)>(value);
      }
    });
  }

  ScalarType type() const { return type_; }
  std::size_t size() const { return bytes_.size() / static_cast<std::size_t>(bytes_of(type_)); }
  std::span<std::byte> bytes() { return bytes_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  const void* data() const { return bytes_.data(); }
  void* data() { return bytes_.data(); }

  /// The elements, for who knows their type.
  template <typename T>
  T* elements() {
    ESC_CHECK(sizeof(T) == static_cast<std::size_t>(bytes_of(type_)), "the elements are of this type");
    return reinterpret_cast<T*>(bytes_.data());
  }
  template <typename T>
  const T* elements() const {
    return const_cast<TypedElements*>(this)->elements<T>();
  }

  /// Bit by bit.
  bool operator==(const TypedElements&) const = default;

 private:
  ScalarType type_;
  std::vector<std::byte> bytes_;
};

}  // namespace esc
