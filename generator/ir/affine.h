// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace esc {

/// Values of iterators, sizes and other index variables, by name.
using Environment = std::map<std::string, std::int64_t, std::less<>>;

/// An affine combination of index names: the sum of coefficient * name, plus a constant (paper, 3.5: the dictionary of
/// loop iterators that stands for an access function). Names are loop iterators, sizes or defined index variables.
class Affine {
 public:
  struct Term {
    std::string name;
    std::int64_t coefficient = 0;
    bool operator==(const Term&) const = default;
  };

  Affine() = default;
  /// The constant itself; implicit, because a number is an affine expression.
  Affine(std::int64_t constant) : constant_(constant) {}  // NOLINT(google-explicit-constructor)
  /// coefficient * name.
  static Affine of(std::string name, std::int64_t coefficient = 1);

  std::int64_t constant() const { return constant_; }
  /// Non-zero coefficients, sorted by name.
  const std::vector<Term>& terms() const { return terms_; }
  /// 0 where the name does not occur.
  std::int64_t coefficient(const std::string& name) const;
  bool mentions(const std::string& name) const { return coefficient(name) != 0; }
  bool is_constant() const { return terms_.empty(); }
  /// Whether this is exactly one name: coefficient 1, constant 0.
  bool is_name(const std::string& name) const;

  Affine operator+(const Affine& other) const;
  Affine operator-(const Affine& other) const;
  Affine operator*(std::int64_t factor) const;
  /// The same expression with `replacement` for every occurrence of `name`.
  Affine substitute(const std::string& name, const Affine& replacement) const;
  /// Throws Defect when a name has no value.
  std::int64_t evaluate(const Environment& environment) const;

  bool operator==(const Affine&) const = default;

 private:
  std::vector<Term> terms_;
  std::int64_t constant_ = 0;
};

/// "4*row tile + 3", "j + 32", "0".
std::string print(const Affine& affine);

}  // namespace esc
