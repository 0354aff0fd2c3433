// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "generator/ir/affine.h"

namespace esc::frontend {

/// A polynomial with 64-bit integer coefficients over iterators and sizes: what an index expression such as i*K + k is
/// before it is known which factor is the extent of a dimension.
class Polynomial {
 public:
  Polynomial() = default;
  /// The constant itself; implicit, because a number is a polynomial.
  Polynomial(std::int64_t constant);  // NOLINT(google-explicit-constructor)
  explicit Polynomial(const Affine& affine);
  static Polynomial of(const std::string& name);

  /// Sum, difference and product; nothing where a coefficient leaves 64 bits.
  std::optional<Polynomial> plus(const Polynomial& other) const;
  std::optional<Polynomial> minus(const Polynomial& other) const;
  std::optional<Polynomial> times(const Polynomial& other) const;

  bool is_constant() const;
  bool mentions(const std::string& name) const;
  /// What is before the first power of `name`: K for i in i*K + k.
  Polynomial coefficient(const std::string& name) const;
  /// Nothing where a product of names occurs.
  std::optional<Affine> affine() const;

  bool operator==(const Polynomial&) const = default;

 private:
  friend std::string print(const Polynomial& polynomial);

  /// Names that are multiplied, sorted; empty: the constant term.
  using Monomial = std::vector<std::string>;

  bool add(const Monomial& monomial, std::int64_t coefficient);

  std::map<Monomial, std::int64_t> terms_;  // no zero coefficients
};

/// "K*i + k".
std::string print(const Polynomial& polynomial);

}  // namespace esc::frontend
