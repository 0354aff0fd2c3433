// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <clang/Basic/SourceLocation.h>

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "generator/frontend/polynomial.h"
#include "generator/ir/affine.h"
#include "generator/ir/loop_nest.h"

namespace clang {
class ASTContext;
class Expr;
class ForStmt;
class FunctionDecl;
class VarDecl;
}  // namespace clang

namespace esc::frontend {

/// A for loop as written: from 0 to `upper` (exclusive; one size or a constant) in steps of 1, or over a segment,
/// between bounds that are loaded from arrays of integers.
struct WrittenLoop {
  const clang::VarDecl* variable = nullptr;
  std::string iterator;
  Affine upper;
  clang::SourceLocation place;
  Affine lower = 0;
  bool is_segment = false;
  std::size_t guards = 0;  ///< of the scope around it, so many
};
/// Loops from the outermost to the innermost; one loop is one object, so that pointers tell whether two places share
/// it.
using Loops = std::vector<std::shared_ptr<const WrittenLoop>>;

/// An element of an array, in whatever way it was indexed, with one subscript for each dimension; or a variable as it
/// is, with none.
struct ArrayElement {
  const clang::VarDecl* array = nullptr;
  ScalarType type = ScalarType::f32;
  std::vector<Affine> extents = {};  ///< as far as loops or the declaration tell them; 0: unknown
  Access access = {};
  const clang::Expr* source = nullptr;
  std::vector<double> values = {};  ///< of a table of constants
};

/// An element of an array of integers that indices are made of, under the name that it has in them.
struct Load {
  std::string name;
  ArrayElement element;
  const clang::VarDecl* local = nullptr;  ///< the constant local that it is, if any
};

/// A condition that a statement runs under: that an element is not zero, or a comparison of indices, left < right or
/// left <= right.
struct WrittenGuard {
  Expression condition;
  std::optional<ArrayElement> element;  ///< the one that is not zero
  const clang::Expr* source = nullptr;
};

class Variables;

/// Where a statement is: the loops around it and the guards it runs under.
struct Scope {
  const Variables* variables = nullptr;
  Loops loops;
  std::vector<WrittenGuard> guards;
};

/// What a local variable that never changes stands for, with the scope in which that is to be read.
struct Definition {
  const clang::Expr* value = nullptr;
  Scope scope;
};

/// The variables of one function: which of them are changed, and what the unchanged ones stand for.
class Variables {
 public:
  /// Reads an element of an array of integers as an index; it is the value of the constant local, where that is not
  /// null.
  using LoadReader = Polynomial (*)(const clang::Expr& element, const Scope& scope, const clang::VarDecl* local);

  /// Finds the changes. Refuses calls, because a call may change anything, but for those of C's mathematics functions.
  /// `sizes` are the numbers that some of its parameters are. An index may be an element and an element's subscripts
  /// are indices, so that the reader of indices finds that of elements here.
  Variables(const clang::FunctionDecl& function, Environment sizes, LoadReader reader);

  const clang::ASTContext& ast() const { return *ast_; }
  /// Where the variable is first assigned, incremented or has its address taken, other than as the iterator in the head
  /// of a loop.
  std::optional<clang::SourceLocation> change(const clang::VarDecl& variable) const;

  /// What the local is called in a nest: its own name, or one of its own where another local has that name too.
  const std::string& name_of(const clang::VarDecl& local) const { return names_.at(&local); }

  /// The number that the parameter is; nothing where that is not known before a call.
  std::optional<std::int64_t> number_of(const clang::VarDecl& parameter) const;

  void define(const clang::VarDecl& variable, Definition definition);
  /// Nothing for parameters, iterators, arrays and what is declared outside of the function.
  std::optional<Definition> definition(const clang::VarDecl& variable) const;

  Polynomial read_load(const clang::Expr& element, const Scope& scope, const clang::VarDecl* local) const {
    return read_load_(element, scope, local);
  }
  /// Notes that an index is made of the element, which is the value of `local` where that is not null. Returns its
  /// name: the local's, or one that tells array and index.
  std::string note_load(const ArrayElement& element, const clang::VarDecl* local) const;
  /// What was noted under this name, or of this local; null where nothing was.
  const Load* find_load(const std::string& name) const;
  const Load* find_load(const clang::VarDecl& local) const;
  /// Whether the index is made of what is loaded.
  bool is_loaded(const Affine& index) const;

 private:
  const clang::ASTContext* ast_;
  Environment sizes_;
  LoadReader read_load_;
  std::map<const clang::VarDecl*, clang::SourceLocation> changes_;
  std::map<const clang::VarDecl*, std::string> names_;
  std::map<const clang::VarDecl*, Definition> definitions_;
  std::set<std::string> taken_;     // names that loads must not have
  mutable std::deque<Load> loads_;  // as they are read; none moves
};

/// The variable whose name the expression is; null where it is anything else.
const clang::VarDecl* variable_of(const clang::Expr& expression);
/// The same through parentheses and casts of any kind.
const clang::VarDecl* named_variable(const clang::Expr& expression);
/// Whether the expression is written as an element of an array or of what a pointer points to.
bool is_element(const clang::Expr& expression);

}  // namespace esc::frontend
