// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "generator/ir/loop_nest.h"

namespace esc {

/// What the hardware does at once and a nest cannot say as loops and statements: its meaning as a nest, which the
/// interpreter runs, and its text, which the printer places.
struct Instruction {
  /// How an argument is handed over: the value of an expression, an array or a part of one, or where an element is.
  enum class Passing { value, array, pointer };
  struct Parameter {
    std::string name;
    Passing passing = Passing::value;
    /// What an array is looked at with, where it matters; may name constants of the nest.
    std::vector<Affine> extents = {};
    bool is_array() const { return passing != Passing::value; }
  };

  std::string name;
  Scope scope = Scope::thread;  ///< who performs it: a thread, or the lanes of a warp together
  std::vector<Parameter> parameters;
  std::vector<std::string> results = {};  ///< index variables that it defines, as the meaning names them
  /// For scope warp, what each thread has of its own - arrays of registers, values, results - has the lane as a
  /// further, first dimension. Lanes together may need arrays between them.
  std::vector<ArrayDeclaration> temporaries = {};
  Block meaning = {};
  /// How it is called: `{name}` is an argument, `{leading_dimension}` that of the first one. With results it is an
  /// expression, else a statement.
  std::string call;
  std::string record = {};                   ///< the structure that several results come in
  bool moves = false;                        ///< the nest goes on from the result: it is no constant
  bool reads_packed_tile = false;            ///< of fragments: what is staged, where anything is
  std::vector<std::string_view> texts = {};  ///< the device functions that the call needs, in this order
  /// The same where the first argument is an element of a matrix with a layout of its own, `{name}` being then its
  /// array, row, column and leading dimension, or holds columns of one. Empty where it makes no difference.
  std::string placed_call = {};
  std::vector<std::string_view> placed_texts = {};
};

}  // namespace esc
