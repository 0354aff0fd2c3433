// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "generator/emit/cuda_expressions.h"

namespace esc {

/// Statements, loops and branches of one thread as CUDA C++.
class StatementPrinter {
 public:
  explicit StatementPrinter(const LoopNest& nest) : nest_(nest), expressions_(nest) {}

  std::string print(const Node& node);
  std::string print(const Block& block);
  const CudaExpressions& expressions() const { return expressions_; }
  /// From here on threads of the block meet by this call, a statement.
  void meet_blocks_by(const char* call) { block_barrier_ = call; }
  /// And those of a consumer group, which the call names: {}.
  void meet_consumer_groups_by(const char* call) { consumer_group_barrier_ = call; }

 private:
  std::string print(const Statement& statement);
  std::string print(const Define& define, const std::string& guard);
  std::string print(const Perform& perform, const std::string& guard) const;
  /// The value in the type of the element that it is stored in.
  std::string stored_value(const Store& store) const;
  std::string print(const Update& update) const;
  std::string print(const Loop& loop);
  std::string print(const Declare& declare) const;
  std::string print(const Barrier& barrier) const;
  std::string guard_text(const Guard& guard) const;
  /// The type of a loop's iterator: unsigned where its bounds are.
  const char* type_of(const Loop& loop) const;
  bool is_unsigned(const Affine& affine) const;

  const LoopNest& nest_;
  CudaExpressions expressions_;
  const char* block_barrier_ = "__syncthreads();\n";
  const char* consumer_group_barrier_ = "sync_consumer_group({});\n";
  std::map<std::string, ScalarType> types_;  ///< of the index variables that were defined
};

}  // namespace esc
