// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/expression.h"

#include <array>

#include "generator/support/error.h"

namespace esc {
namespace {

Expression operation(Operator op, std::vector<Expression> operands) { return Operation{op, std::move(operands)}; }

}  // namespace

const char* name_of(ScalarType type) {
  static constexpr std::array names{"f32", "f64", "tf32", "f16", "bf16", "bool",
                                    "u8",  "u16", "i32",  "u32", "i64",  "u64"};
  return names.at(static_cast<std::size_t>(type));
}

const char* c_name(ScalarType type) {
  switch (type) {
    case ScalarType::f32:
    case ScalarType::tf32:
      return "float";
    case ScalarType::f64:
      return "double";
    case ScalarType::f16:
      return "__half";
    case ScalarType::bf16:
      return "__nv_bfloat16";
    case ScalarType::boolean:
      return "bool";
    case ScalarType::u8:
      return "unsigned char";
    case ScalarType::u16:
      return "unsigned short";
    case ScalarType::i32:
      return "int";
    case ScalarType::u32:
      return "unsigned int";
    case ScalarType::i64:
      return "long long";
    case ScalarType::u64:
      return "size_t";
  }
  return "void";
}

const char* nest_name(ScalarType type) {
  return type == ScalarType::f16 ? "_Float16" : type == ScalarType::bf16 ? "__bf16" : c_name(type);
}

bool Operation::operator==(const Operation& other) const { return op == other.op && operands == other.operands; }
bool Call::operator==(const Call& other) const { return function == other.function && arguments == other.arguments; }
bool Convert::operator==(const Convert& other) const { return type == other.type && operand == other.operand; }

const Operation* Expression::operation(Operator op) const {
  const auto* found = std::get_if<Operation>(&content);
  return found != nullptr && found->op == op ? found : nullptr;
}

Expression operator+(const Expression& left, const Expression& right) {
  if (left.affine() != nullptr && right.affine() != nullptr) {
    return *left.affine() + *right.affine();
  }
  return operation(Operator::add, {left, right});
}

Expression operator-(const Expression& left, const Expression& right) {
  if (left.affine() != nullptr && right.affine() != nullptr) {
    return *left.affine() - *right.affine();
  }
  return operation(Operator::subtract, {left, right});
}

Expression operator*(const Expression& left, const Expression& right) {
  const Affine* const a = left.affine();
  const Affine* const b = right.affine();
  if (a != nullptr && b != nullptr && (a->is_constant() || b->is_constant())) {
    return a->is_constant() ? *b * a->constant() : *a * b->constant();
  }
  return operation(Operator::multiply, {left, right});
}

Expression quotient(const Expression& numerator, const Expression& divisor) {
  return operation(Operator::quotient, {numerator, divisor});
}
Expression remainder(const Expression& numerator, const Expression& divisor) {
  return operation(Operator::remainder, {numerator, divisor});
}
Expression minimum(const Expression& left, const Expression& right) {
  return operation(Operator::minimum, {left, right});
}
Expression less(const Expression& left, const Expression& right) { return operation(Operator::less, {left, right}); }
Expression equals(const Expression& left, const Expression& right) {
  return operation(Operator::equals, {left, right});
}
Expression differs(const Expression& left, const Expression& right) {
  return operation(Operator::differs, {left, right});
}
Expression is_nonzero(const Expression& value) { return differs(value, 0); }
Expression choose(const Expression& condition, const Expression& value, const Expression& otherwise) {
  return operation(Operator::choose, {condition, value, otherwise});
}

Expression all_of(std::vector<Expression> conditions) {
  ESC_CHECK(!conditions.empty(), "there is a condition");
  return conditions.size() == 1 ? conditions.front() : operation(Operator::all, std::move(conditions));
}

Expression product(const std::vector<Expression>& factors) {
  ESC_CHECK(!factors.empty(), "there is a factor");
  return factors.size() == 1 ? factors.front() : operation(Operator::multiply, factors);
}

std::vector<Expression> factors(const Expression& product) {
  const Operation* const multiplied = product.operation(Operator::multiply);
  return multiplied == nullptr ? std::vector<Expression>{product} : multiplied->operands;
}

}  // namespace esc
