#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "generator/ir/affine.h"
#include "generator/ir/pattern.h"

namespace esc {

/// One dimension of an access: an affine part and, after data transformation, a run-time offset in front of it
/// (the name of an index variable that was loaded; empty: none).
struct Subscript {
  std::string offset;
  Affine affine;
  bool operator==(const Subscript&) const = default;
};

/// An access function: which element of an array a statement touches.
struct Access {
  std::string array;
  std::vector<Subscript> subscripts;
  bool operator==(const Access&) const = default;
};

/// Which columns of a panel belong to a set: those that have exactly its pattern, or a non-zero in any of its rows.
enum class Membership { exact, any };

/// The columns whose pattern in the row panel that starts at row `first_row` (an index variable) is `pattern` or, with
/// Membership::any, has a row in common with it. Rows beyond the matrix count as zero.
struct ColumnSet {
  std::string first_row;
  Pattern pattern;
  Membership membership = Membership::exact;
  bool operator==(const ColumnSet&) const = default;
};

/// Integer expressions that define index variables, beside affine ones and loads from index arrays.
struct Quotient {
  std::string numerator;
  std::int64_t divisor = 1;
  bool operator==(const Quotient&) const = default;
};
struct Remainder {
  std::string numerator;
  std::int64_t divisor = 1;
  bool operator==(const Remainder&) const = default;
};
/// The greatest multiple of `multiple` that is not above `value`.
struct RoundDown {
  std::string value;
  std::int64_t multiple = 1;
  bool operator==(const RoundDown&) const = default;
};
struct PopulationCount {
  std::string mask;
  bool operator==(const PopulationCount&) const = default;
};
/// Position of the lowest set bit of a mask.
struct LowestSetBit {
  std::string mask;
  bool operator==(const LowestSetBit&) const = default;
};
/// The mask without its lowest set bit.
struct ClearLowestSetBit {
  std::string mask;
  bool operator==(const ClearLowestSetBit&) const = default;
};
/// How many columns the set has.
struct ColumnCount {
  ColumnSet set;
  bool operator==(const ColumnCount&) const = default;
};
/// The column at `position` of the set, counted from 0 in ascending order.
struct ColumnAt {
  ColumnSet set;
  Affine position;
  bool operator==(const ColumnAt&) const = default;
};
/// The smaller of two numbers.
struct Minimum {
  Affine left;
  Affine right;
  bool operator==(const Minimum&) const = default;
};
using IndexExpression = std::variant<Affine, Access, Quotient, Remainder, RoundDown, PopulationCount, LowestSetBit,
                                     ClearLowestSetBit, ColumnCount, ColumnAt, Minimum>;

/// Conditions of a guard.
struct Less {
  Affine left;
  Affine right;
  bool operator==(const Less&) const = default;
};
struct NonZero {
  Access access;
  bool operator==(const NonZero&) const = default;
};
using Condition = std::variant<Less, NonZero>;
/// All conditions must hold; empty: always.
using Guard = std::vector<Condition>;

/// What an update multiplies or adds to: an element of an array, a scalar (by name), or a constant.
using Operand = std::variant<Access, std::string, double>;

/// const index name = value. Under a guard that fails the index is zero, and the value is not looked at.
struct DefineIndex {
  std::string name;
  IndexExpression value;
  bool operator==(const DefineIndex&) const = default;
};
/// element name = value. Under a guard that fails the scalar is zero.
struct DefineElement {
  std::string name;
  Operand value;
  bool operator==(const DefineElement&) const = default;
};
/// target += product of the factors; atomic where several blocks or threads may add to one element.
struct Update {
  Operand target;
  std::vector<Operand> factors;
  bool atomic = false;
  bool operator==(const Update&) const = default;
};

/// target = value.
struct Store {
  Access target;
  Operand value;
  bool operator==(const Store&) const = default;
};

/// A guarded action. Statements stand in lexicographic order; their scope is the number of loops around them.
struct Statement {
  Guard guard;
  std::variant<DefineIndex, DefineElement, Update, Store> action;
  bool operator==(const Statement&) const = default;
};

/// What a loop runs over in the product.
enum class Role { row, reduction, column, none };
/// What a loop has become on the GPU: an ordinary loop, blockIdx.x, blockIdx.y, the warp in the block, the lane in the
/// warp, or a digit of the warp or of the lane where several loops share them. Between two loops over warps or lanes of
/// one block, one behind the other, the threads of the block wait for each other.
enum class Mapping { sequential, grid, grid_y, warps, lanes, warp_digit, lane_digit };

struct Node;
using Block = std::vector<Node>;

/// for (iterator = lower; iterator < upper; iterator += step). upper - lower is promised to be a multiple of
/// `multiple`.
struct Loop {
  std::string iterator;
  Affine lower;
  Affine upper;
  std::int64_t step = 1;
  Role role = Role::none;
  Mapping mapping = Mapping::sequential;
  Block body;
  std::int64_t multiple = 1;
  bool operator==(const Loop& other) const;
};

/// for (iterator : columns of the set, ascending).
struct ColumnLoop {
  std::string iterator;
  ColumnSet set;
  Block body;
  bool operator==(const ColumnLoop& other) const;
};

/// The pattern of column `column` in the panel of `height` rows that starts at `first_row`: the enumerated choice.
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

struct Node {
  std::variant<Statement, Loop, ColumnLoop, Switch> content;
  bool operator==(const Node& other) const;
};

enum class ElementType { float32, float64 };

/// What an array is in the product, that it belongs to the packed form of the sparse one, or that every block has one
/// of its own: spread over the registers of its lanes, or in shared memory. What a block has of its own begins
/// uninitialised.
enum class ArrayRole { sparse, dense, output, packed_index, packed_value, registers, shared };

/// An array with the extent of each dimension.
struct ArrayDeclaration {
  std::string name;
  std::vector<Affine> extents;
  ArrayRole role = ArrayRole::dense;
  bool operator==(const ArrayDeclaration&) const = default;
};

/// A size that follows from another: name = ceil(numerator / divisor).
struct DerivedSize {
  std::string name;
  Affine numerator;
  std::int64_t divisor = 1;
  bool operator==(const DerivedSize&) const = default;
};

/// A loop nest: the iteration space as a tree of loops, with the statements and access functions inside.
/// A value: every step of the transformation takes one and returns another.
struct LoopNest {
  ElementType element = ElementType::float32;
  std::vector<ArrayDeclaration> arrays;
  std::vector<DerivedSize> derived_sizes;
  Block body;

  /// The array with this role. Throws Defect when there is none.
  const ArrayDeclaration& array(ArrayRole role) const;

  bool operator==(const LoopNest&) const = default;
};

/// The SpMM nest of the paper's Listing 1 in canonical names: C[i][j] += A[i][k] * B[k][j] where A[i][k] != 0, loops
/// i < M, k < K, j < N, float32. What the front end makes of the shipped templates/spmm.c.
LoopNest spmm_nest();

}  // namespace esc
