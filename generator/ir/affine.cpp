// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/affine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "generator/support/error.h"

namespace esc {

Affine Affine::of(std::string name, std::int64_t coefficient) {
  Affine result;
  if (coefficient != 0) {
    result.terms_.push_back({std::move(name), coefficient});
  }
  return result;
}

std::int64_t Affine::coefficient(const std::string& name) const {
  for (const Term& term : terms_) {
    if (term.name == name) {
      return term.coefficient;
    }
  }
  return 0;
}

bool Affine::is_name(const std::string& name) const {
  return constant_ == 0 && terms_.size() == 1 && terms_[0].name == name && terms_[0].coefficient == 1;
}

Affine Affine::operator+(const Affine& other) const {
  Affine sum;
  sum.constant_ = constant_ + other.constant_;
  sum.terms_.reserve(terms_.size() + other.terms_.size());
  auto left = terms_.begin();
  auto right = other.terms_.begin();
  while (left != terms_.end() || right != other.terms_.end()) {
    if (right == other.terms_.end() || (left != terms_.end() && left->name < right->name)) {
      sum.terms_.push_back(*left++);
    } else if (left == terms_.end() || right->name < left->name) {
      sum.terms_.push_back(*right++);
    } else {
      const std::int64_t coefficient = left->coefficient + right->coefficient;
      if (coefficient != 0) {
        sum.terms_.push_back({left->name, coefficient});
      }
      ++left;
      ++right;
    }
  }
  return sum;
}

Affine Affine::operator-(const Affine& other) const { return *this + other * -1; }

Affine Affine::operator*(std::int64_t factor) const {
  if (factor == 0) {
    return {};
  }
  Affine product = *this;
  product.constant_ *= factor;
  for (Term& term : product.terms_) {
    term.coefficient *= factor;
  }
  return product;
}

Affine Affine::substitute(const std::string& name, const Affine& replacement) const {
  const std::int64_t factor = coefficient(name);
  if (factor == 0) {
    return *this;
  }
  return *this - of(name, factor) + replacement * factor;
}

std::int64_t Affine::evaluate(const Environment& environment) const {
  std::int64_t value = constant_;
  for (const Term& term : terms_) {
    const auto found = environment.find(term.name);
    ESC_CHECK(found != environment.end(), "no value for index variable " + term.name);
    value += term.coefficient * found->second;
  }
  return value;
}

std::string print(const Affine& affine) {
  std::vector<Affine::Term> terms = affine.terms();
  std::stable_partition(terms.begin(), terms.end(), [](const Affine::Term& term) { return term.coefficient > 0; });
  std::string text;
  for (const Affine::Term& term : terms) {
    const std::int64_t magnitude = term.coefficient < 0 ? -term.coefficient : term.coefficient;
    if (term.coefficient < 0) {
      text += text.empty() ? "-" : " - ";
    } else if (!text.empty()) {
      text += " + ";
    }
    text += magnitude == 1 ? term.name : fmt::format("{}*{}", magnitude, term.name);
  }
  if (text.empty()) {
    return fmt::format("{}", affine.constant());
  }
  if (affine.constant() != 0) {
    text += fmt::format(" {} {}", affine.constant() < 0 ? '-' : '+', std::abs(affine.constant()));
  }
  return text;
}

}  // namespace esc
