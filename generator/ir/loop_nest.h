// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "generator/ir/expression.h"
#include "generator/ir/layout.h"

namespace esc {

/// All conditions must hold; empty: always.
using Guard = std::vector<Expression>;

/// const type name = value. Under a guard that fails it is zero, and the value is not looked at.
struct Define {
  ScalarType type = ScalarType::i32;
  std::string name;
  Expression value;
  bool moves = false;  ///< an update goes on from the value: it is no constant
  bool operator==(const Define&) const = default;
};
/// target += value, of an element or of a scalar; atomic where several blocks or threads may add to one element.
struct Update {
  Expression target;
  Expression value;
  bool atomic = false;
  bool operator==(const Update&) const = default;
};
/// target = value.
struct Store {
  Access target;
  Expression value;
  bool operator==(const Store&) const = default;
};
/// Every element of one part of an array becomes that of another of the same extents.
struct Copy {
  Access target;
  Access source;
  bool operator==(const Copy&) const = default;
};
/// An instruction (ir/instruction.h) with its arguments and the names of what it defines.
struct Perform {
  std::string instruction;
  std::vector<Expression> arguments;
  std::vector<std::string> results = {};
  bool operator==(const Perform&) const = default;
};

/// A guarded action. Statements are in lexicographic order; their scope is the number of loops around them.
struct Statement {
  Guard guard;
  std::variant<Define, Update, Store, Copy, Perform> action;
  bool operator==(const Statement&) const = default;
};

/// What a loop runs over in the product; a group is of the rows and of the reduction at once, as the groups of a
/// convolution are.
enum class Role { row, reduction, column, group, none };
/// Who runs a loop's iterations: one thread, one after the other, or written out; the blocks of the grid, in either
/// dimension; the blocks of a cluster, which run at the same time and can write into each other's shared memory,
/// innermost of those over blocks; the warps of a block and the lanes of a warp, or a digit of their number where
/// several loops share them, the innermost the lowest; the threads of a block.
enum class Mapping { sequential, unrolled, grid, grid_y, cluster, warps, lanes, warp_digit, lane_digit, threads };

constexpr bool is_grid(Mapping mapping) {
  return mapping == Mapping::grid || mapping == Mapping::grid_y || mapping == Mapping::cluster;
}
/// Whether the loop is over threads of a block.
constexpr bool is_thread(Mapping mapping) { return mapping >= Mapping::warps; }
constexpr bool is_mapped(Mapping mapping) { return is_grid(mapping) || is_thread(mapping); }

struct Node;
using Block = std::vector<Node>;

/// for (iterator = lower; iterator < upper; iterator += step).
struct Loop {
  std::string iterator;
  Affine lower;
  Affine upper;
  Affine step = 1;
  Role role = Role::none;
  Mapping mapping = Mapping::sequential;
  Block body;
  bool operator==(const Loop& other) const;
};

/// for (iterator : columns of the set, ascending).
struct ColumnLoop {
  std::string iterator;
  ColumnSet set;
  Block body;
  bool operator==(const ColumnLoop& other) const;
};

/// The pattern of column `column` in the row tile of `height` rows that starts at `first_row`: the enumerated choice.
struct ColumnPattern {
  Affine first_row;
  Affine column;
  int height = 1;
  bool operator==(const ColumnPattern&) const = default;
};

/// One enumerated block: the body for one pattern or, after compaction, for one number of rows.
struct Case {
  std::variant<Pattern, std::int64_t> label;
  Block body;
  bool operator==(const Case& other) const;
};

/// Runs the case that the subject names, or none. The subject is a column's pattern or an index variable.
struct Switch {
  std::variant<ColumnPattern, std::string> subject;
  std::vector<Case> cases;
  bool operator==(const Switch& other) const;
};

/// if (condition) then, else otherwise.
struct Branch {
  Expression condition;
  Block then;
  Block otherwise;
  bool operator==(const Branch& other) const;
};

/// Whose threads something concerns: one thread, the lanes of its warp, the warps of its consumer group, all warps of
/// its block, or all blocks of its cluster. A consumer group are the threads of a block that agree in the index which
/// the nest names.
enum class Scope { thread, warp, consumer_group, block, cluster };

/// The threads of the scope wait for each other.
struct Barrier {
  Scope scope = Scope::block;
  bool operator==(const Barrier&) const = default;
};

/// A sentence of a pass about what is after it.
struct Note {
  std::string text;
  bool operator==(const Note&) const = default;
};

/// Every thread has this array (of role registers) from here on, zero or uninitialised.
struct Declare {
  std::string array;
  bool zero = false;
  bool operator==(const Declare&) const = default;
};

struct Node {
  std::variant<Statement, Loop, ColumnLoop, Switch, Branch, Barrier, Note, Declare> content;
  bool operator==(const Node& other) const;
};

/// What an array is in the product, that an epilogue reads it (operand, which a caller hands over, or table, which the
/// nest itself has), that it belongs to the packed form of the sparse one, or that every cluster (cluster: its
/// outermost dimension is the rank of the block in whose shared memory an element lies), every block (shared) or every
/// thread (registers) has one of its own, which begins uninitialised; unknown until lower/assign_roles has found it. An
/// operand without extents is a number that the caller gives.
enum class ArrayRole {
  sparse,
  dense,
  output,
  operand,
  table,
  packed_index,
  packed_value,
  registers,
  shared,
  cluster,
  unknown
};

/// Whether such an array lies in the shared memory of a block, or of the blocks of its cluster.
constexpr bool is_in_shared_memory(ArrayRole role) { return role == ArrayRole::shared || role == ArrayRole::cluster; }

/// An array with the extent of each dimension.
struct ArrayDeclaration {
  std::string name;
  std::vector<Affine> extents;
  ArrayRole role = ArrayRole::dense;
  ScalarType type = ScalarType::f32;
  /// For registers, the record of an instruction's text that its last dimension stands for; empty: none.
  std::string record = {};
  /// For a matrix of the product in canonical form, where its elements are; absent: one row after the other.
  std::optional<Layout> layout = {};
  /// Of registers: numbers of columns of the dense array, which a kernel may keep as the places where those columns
  /// begin.
  bool holds_columns = false;
  /// Of a table of constants: all of them, the last subscript running fastest. Its extents are numbers.
  std::vector<double> values = {};
  bool operator==(const ArrayDeclaration&) const = default;
};

/// A size that follows from another: name = ceil(numerator / divisor).
struct DerivedSize {
  std::string name;
  Affine numerator;
  std::int64_t divisor = 1;
  bool operator==(const DerivedSize&) const = default;
};

/// A number that a pass gave a name: the schedule's own ones with the reason, and those that follow from them.
struct NamedConstant {
  std::string name;
  Expression value;
  std::string why;
  bool operator==(const NamedConstant&) const = default;
};

/// The form in which a pass has the sparse array stored, as far as the schedule decides it.
struct PackedForm {
  /// Lists of columns that share a pattern, regions of warps, tasks, fragments of tensor cores, lists of rows that
  /// gather those of B, or packed tiles, in which a bitmap says what is stored, or two of each four elements are.
  enum class Kind { none, lists, regions, tasks, fragments, gathered, bitmap, sparse24 };
  Kind kind = Kind::none;
  std::int64_t height = 1;           ///< rows of a row tile
  std::int64_t warps = 1;            ///< regions: warps that share a row tile; tasks: warps of a block
  std::int64_t groups = 1;           ///< regions: lane groups that share a row tile; tasks: lane groups of a warp
  std::int64_t warp_row_tiles = 1;   ///< regions: row tiles of a warp
  std::int64_t block_row_tiles = 1;  ///< regions and fragments: row tiles of a block
  std::int64_t columns = 1;          ///< fragments: columns of C of a block
  bool dense_steps = false;          ///< fragments: whether steps have consecutive columns
  bool listed_values =
      false;  ///< fragments: of which each lane has a list of what is not zero, in place of all elements
  bool placed_values = false;  ///< fragments: of which each one has its place beside it, in place of the lists of lanes
  bool splits_values = false;  ///< placed values: whether each is put there as two numbers of 16 bits
  std::int64_t placing_warps = 1;  ///< placed values: warps that put those of a row tile in their places
  std::int64_t longest = 1;        ///< tasks: most non-zeros
  std::int64_t light = 1;          ///< tasks: most non-zeros of a light one
  bool is_shape_generic =
      false;  ///< whether the kernel is told by its caller where the packed matrix has what, because layers share it
  bool has_packed_tiles() const { return kind == Kind::bitmap || kind == Kind::sparse24; }
  bool operator==(const PackedForm&) const = default;
};

/// What the launch sets to zero before the nest runs.
enum class Zeroed { nothing, output };

/// What each complete sum becomes: output[..] = value, which is made of the sum, of the steps in front and of operands.
struct Epilogue {
  std::vector<std::string> subscripts;  ///< what the output's are called here; in canonical form i and j
  std::string sum;                      ///< and the sum
  std::vector<Define> steps = {};
  Expression value;
  bool operator==(const Epilogue&) const = default;
};

/// A loop nest: the iteration space as a tree of loops, with the statements and access functions inside.
/// A value: every step of the transformation takes one and returns another.
struct LoopNest {
  std::vector<ArrayDeclaration> arrays;
  std::vector<DerivedSize> derived_sizes;
  Block body;
  std::vector<NamedConstant> constants;
  PackedForm packed;
  Zeroed zeroed = Zeroed::nothing;
  std::vector<LoopNest> before = {};  ///< what runs before this nest, a launch of its own each
  /// What writes the sparse array as it was, zeros too, from its packed form, when a caller asks for it; none or one.
  std::vector<LoopNest> unpacking = {};
  /// Likewise, what writes other values of the sparse array into its packed form, whose pattern stays; none or one.
  std::vector<LoopNest> repacking = {};
  /// What happens to the output after this nest, until a pass places it where the sums are complete.
  std::optional<Epilogue> epilogue = {};
  bool explicit_zeros = false;  ///< zeros of the sparse array are multiplied: B must be finite
  bool vectors = false;         ///< has a variant that moves several columns of a lane at once
  bool whole_rows = false;      ///< no row of the sparse array may be cut into tasks
  bool overlaps = false;        ///< may begin before the kernel before has ended
  std::string consumer_group =
      {};  ///< the index of the threads' loops in which those of a consumer group agree; empty without consumer groups
  std::vector<std::string> description;  ///< how it works, a sentence or two from each pass
  /// The same product as its author wrote it, where that goes over the stored elements of the sparse array
  /// (lower/dense_subscripts); none or one.
  std::vector<LoopNest> written = {};

  /// The array with this role, or of this name. Throws Defect when there is none.
  const ArrayDeclaration& array(ArrayRole role) const;
  const ArrayDeclaration* find_array(const std::string& name) const;
  /// The value of a named constant. Throws Defect when there is none of this name.
  std::int64_t constant(const std::string& name) const;
  bool has_constant(const std::string& name) const;
  /// The element type of the product.
  ScalarType element() const { return array(ArrayRole::output).type; }
  /// The type of its sums, and of all that is computed of them.
  ScalarType sum() const { return sum_type(element()); }
  /// Whether a sum is stored otherwise than it is, for which somebody must have the whole of it: changed by an
  /// epilogue, or rounded.
  bool finishes_sums() const { return epilogue.has_value() || is_half(element()); }

  bool operator==(const LoopNest&) const = default;
};

/// What the nest's epilogue reads, in the order of its arrays.
std::vector<ArrayDeclaration> operands_of(const LoopNest& nest);
/// Whether the last dimension of an operand goes over the columns of the output. The nest is in canonical form, where
/// rows and columns have sizes of their own.
bool goes_over_columns(const LoopNest& nest, const ArrayDeclaration& operand);

/// The nest that an epilogue stands for: loops over all elements of the output, each of which it changes. The nest must
/// have one.
LoopNest nest_of_epilogue(const LoopNest& nest);

/// The values of all named constants, each of which may use those before it.
Environment constants_of(const LoopNest& nest);

/// The SpMM nest of the paper's Listing 1 in canonical names: C[i][j] += A[i][k] * B[k][j] where A[i][k] != 0, loops
/// i < M, k < K, j < N. In f32 what the front end makes of the shipped templates/spmm.c.
LoopNest spmm_nest(ScalarType element_type = ScalarType::f32);

}  // namespace esc
