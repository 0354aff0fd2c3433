// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/polynomial.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace esc::frontend {

Polynomial::Polynomial(std::int64_t constant) { add({}, constant); }

Polynomial::Polynomial(const Affine& affine) {
  add({}, affine.constant());
  for (const Affine::Term& term : affine.terms()) {
    add({term.name}, term.coefficient);
  }
}

Polynomial Polynomial::of(const std::string& name) {
  Polynomial result;
  result.add({name}, 1);
  return result;
}

bool Polynomial::add(const Monomial& monomial, std::int64_t coefficient) {
  const auto found = terms_.find(monomial);
  std::int64_t sum = coefficient;
  if (found != terms_.end() && __builtin_add_overflow(found->second, coefficient, &sum)) {
    return false;
  }
  if (sum != 0) {
    terms_.insert_or_assign(monomial, sum);
  } else if (found != terms_.end()) {
    terms_.erase(found);
  }
  return true;
}

std::optional<Polynomial> Polynomial::plus(const Polynomial& other) const {
  Polynomial sum = *this;
  for (const auto& [monomial, coefficient] : other.terms_) {
    if (!sum.add(monomial, coefficient)) {
      return std::nullopt;
    }
  }
  return sum;
}

std::optional<Polynomial> Polynomial::minus(const Polynomial& other) const {
  const std::optional<Polynomial> negated = other.times(-1);
  return negated ? plus(*negated) : std::nullopt;
}

std::optional<Polynomial> Polynomial::times(const Polynomial& other) const {
  Polynomial product;
  for (const auto& [left, left_coefficient] : terms_) {
    for (const auto& [right, right_coefficient] : other.terms_) {
      Monomial both;
      std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(both));
      std::int64_t coefficient = 0;
      if (__builtin_mul_overflow(left_coefficient, right_coefficient, &coefficient) ||
          !product.add(both, coefficient)) {
        return std::nullopt;
      }
    }
  }
  return product;
}

bool Polynomial::is_constant() const { return terms_.empty() || (terms_.size() == 1 && terms_.begin()->first.empty()); }

bool Polynomial::mentions(const std::string& name) const {
  return std::any_of(terms_.begin(), terms_.end(),
                     [&](const auto& term) { return std::binary_search(term.first.begin(), term.first.end(), name); });
}

Polynomial Polynomial::coefficient(const std::string& name) const {
  Polynomial result;
  for (const auto& [monomial, coefficient] : terms_) {
    if (std::count(monomial.begin(), monomial.end(), name) == 1) {
      Monomial rest;
      std::copy_if(monomial.begin(), monomial.end(), std::back_inserter(rest),
                   [&](const std::string& one) { return one != name; });
      result.add(rest, coefficient);
    }
  }
  return result;
}

std::optional<Affine> Polynomial::affine() const {
  Affine result;
  for (const auto& [monomial, coefficient] : terms_) {
    if (monomial.size() > 1) {
      return std::nullopt;
    }
    result = result + (monomial.empty() ? Affine(coefficient) : Affine::of(monomial.front(), coefficient));
  }
  return result;
}

std::string print(const Polynomial& polynomial) {
  const auto magnitude = [](std::int64_t coefficient) {
    return coefficient < 0 ? 0 - static_cast<std::uint64_t>(coefficient) : static_cast<std::uint64_t>(coefficient);
  };
  std::string text;
  const auto append = [&](const Polynomial::Monomial& monomial, std::int64_t coefficient) {
    const char* const sign = coefficient < 0 ? (text.empty() ? "-" : " - ") : (text.empty() ? "" : " + ");
    const std::string product = fmt::format("{}", fmt::join(monomial, "*"));
    if (product.empty()) {
      text += fmt::format("{}{}", sign, magnitude(coefficient));
    } else if (magnitude(coefficient) == 1) {
      text += sign + product;
    } else {
      text += fmt::format("{}{}*{}", sign, magnitude(coefficient), product);
    }
  };
  for (const auto& [monomial, coefficient] : polynomial.terms_) {
    if (!monomial.empty()) {
      append(monomial, coefficient);
    }
  }
  if (const auto constant = polynomial.terms_.find({}); constant != polynomial.terms_.end()) {
    append({}, constant->second);
  }
  return text.empty() ? "0" : text;
}

}  // namespace esc::frontend
