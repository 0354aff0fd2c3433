// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"

namespace esc {

/// Where an epilogue is computed: a store of `width` consecutive sums, the element of C that it begins at, the
/// condition under which there is a row, and the unrolled loops around it, outermost first.
struct StorePlace {
  Access element;
  Affine width;
  Guard guard;
  std::vector<Loop> loops = {};  ///< without bodies
};

/// Operands of an epilogue that a thread reads into registers before its sums are complete, so that nothing waits for
/// them in the end.
class EarlyOperands {
 public:
  /// Those of the nest's epilogue that depend on row or column of C and take few enough registers.
  explicit EarlyOperands(const LoopNest& nest);

  bool empty() const { return arrays_.empty(); }
  /// The registers of each, by the operand's name.
  const std::map<std::string, ArrayDeclaration>& arrays() const { return arrays_; }
  /// The register in which column `w` of a store finds the operand.
  Access register_of(const std::string& operand, const StorePlace& place) const;
  /// What reads them: the body that stores sums, with nothing left of it but what finds the places, and there the
  /// reads.
  Block reads(const Block& storing) const;

 private:
  Block reads(const Block& storing, const std::vector<Loop>& around) const;
  Block reads_at(const StorePlace& place) const;

  const LoopNest& nest_;
  std::map<std::string, ArrayDeclaration> arrays_;
};

/// The store of sums into C that the statement performs; its place is that of the element. Absent where it is none.
std::optional<StorePlace> store_place(const LoopNest& nest, const Statement& statement, std::vector<Loop> around);

}  // namespace esc
