// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/dense_subscripts.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/print.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/table_line.h"

namespace esc {
namespace {

using Element = NestPart::Element;

constexpr const char* expected_rows =
    "expected the stored elements of one row, for (p = rows[i]; p < rows[i + 1]; p++) C[i][j] += values[p] * "
    "B[columns[p]][j]";

/// The names that the statement's indices are made of.
std::set<std::string> names_in(const Statement& statement) {
  std::set<std::string> names;
  rewrite(statement, {.affine = [&](const Affine& affine) {
            for (const Affine::Term& term : affine.terms()) {
              names.insert(term.name);
            }
            return affine;
          }});
  return names;
}

bool is_indexed_by(const Access& access, const Affine& index) {
  return access.subscripts.size() == 1 && access.subscripts.front().affine == index;
}

}  // namespace

std::optional<DenseSubscripts> DenseSubscripts::of(const LoopNest& nest) {
  DenseSubscripts result(nest);
  result.find_loads();
  if (result.loads_.empty()) {
    return std::nullopt;
  }
  result.find_product();
  result.find_bounds();
  result.find_columns();
  result.require_no_others();
  result.make_dense();
  return result;
}

const ArrayDeclaration& DenseSubscripts::array(const std::string& name) const {
  const ArrayDeclaration* found = given_.find_array(name);
  ESC_CHECK(found != nullptr, "the array is declared: " + name);
  return *found;
}

void DenseSubscripts::find_loads() {
  statements_ = find_statements(given_);
  for (const NestedStatement& statement : statements_) {
    const auto* define = statement.action<Define>();
    const Access* access = define != nullptr ? define->value.access() : nullptr;
    if (access != nullptr && is_index(define->type)) {
      loads_.push_back({statement, define->name, *access});
    }
  }
}

const DenseSubscripts::Load* DenseSubscripts::load_named(const Affine& index) const {
  const auto found = std::ranges::find_if(loads_, [&](const Load& load) { return index.is_name(load.name); });
  return found != loads_.end() ? &*found : nullptr;
}

bool DenseSubscripts::is_segment(const Loop& loop) const {
  return std::ranges::any_of(
      loads_, [&](const Load& load) { return loop.lower.mentions(load.name) || loop.upper.mentions(load.name); });
}

void DenseSubscripts::refuse_load(const Load& load) const {
  require_no_table(load);
  refuse(load.statement.part(),
         "{} is loaded from memory: expected sums of iterators times numbers, and sizes that are parameters. A sparse "
         "matrix is written whole, C[i][j] += A[i][k] * B[k][j] under if (A[i][k] != 0), in whatever form it is given: "
         "only its non-zeros are stored and multiplied; or row after row, for (p = rows[i]; p < rows[i + 1]; p++) "
         "C[i][j] += values[p] * B[columns[p]][j]",
         print(load.access));
}

/// Says of a table of constants why it is no affine function of its index.
void DenseSubscripts::require_no_table(const Load& load) const {
  const std::vector<double>& values = array(load.access.array).values;
  if (values.empty()) {
    return;
  }
  const Affine& index = load.access.subscripts.front().affine;
  const std::string& name = load.access.array;
  const bool is_known =
      load.access.subscripts.size() == 1 && std::ranges::all_of(index.terms(), [&](const Affine::Term& term) {
        const Loop* loop = load.statement.find_loop(term.name);
        return loop != nullptr && loop->upper.is_constant() && loop->lower == 0 && term.coefficient > 0;
      });
  if (!is_known) {
    refuse(load.statement.part(),
           "which elements of the table {} are meant is not known at [{}]: expected iterators of loops with numbers "
           "for bounds, times numbers; --size "
           "NAME=VALUE makes a number of a size",
           name, print(index));
  }
  const IndexRange range = range_of(
      index, [&](const std::string& iterator) { return load.statement.find_loop(iterator)->upper.constant(); });
  if (range.least < 0 || range.most >= std::ssize(values)) {
    refuse(load.statement.part(), "{} goes from {} to {}, but the table has {} elements", print(load.access),
           range.least, range.most, values.size());
  }
  refuse(load.statement.part(),
         "the values of the table {}, {}, do not follow from the index {} by one number times it plus another: "
         "expected them evenly spaced, or a nest "
         "for each part that is",
         name, fmt::join(values, ", "), print(index));
}

/// The update that gathers in a loop between loaded bounds, and which of its factors is stored.
void DenseSubscripts::find_product() {
  for (const Load& load : loads_) {
    require_no_table(load);
  }
  const auto update = std::ranges::find_if(statements_, gathers);
  if (update == statements_.end()) {
    refuse_load(loads_.front());
  }
  update_ = *update;
  const std::vector<Expression> both = factors(update_.action<Update>()->value);
  for (const Loop* loop : update_.loops) {
    const auto is_stored = [&](const Expression& factor) {
      return factor.access() != nullptr && is_indexed_by(*factor.access(), Affine::of(loop->iterator));
    };
    if (is_segment(*loop) && segment_ == nullptr && both.size() == 2 && std::ranges::count_if(both, is_stored) == 1) {
      segment_ = loop;
      values_ = is_stored(both.front()) ? 0 : 1;
    }
  }
  if (segment_ == nullptr) {
    refuse_load(loads_.front());
  }
  for (std::size_t depth = 0; depth < update_.loops.size(); ++depth) {
    const Loop& loop = *update_.loops[depth];
    if (&loop != segment_ && is_segment(loop)) {
      refuse(update_.loop_part(depth), "the bounds of loop {} are loaded, and those of loop {} too: {}",
             segment_->iterator, loop.iterator, expected_rows);
    }
  }
}

/// rows[i] and rows[i + 1], or begins[i] and ends[i].
void DenseSubscripts::find_bounds() {
  const std::size_t depth =
      static_cast<std::size_t>(std::ranges::find(update_.loops, segment_) - update_.loops.begin());
  first_ = load_named(segment_->lower);
  end_ = load_named(segment_->upper);
  if (first_ == nullptr || end_ == nullptr) {
    refuse(update_.loop_part(depth),
           "the bounds of loop {} are expected to be loaded, both of them and as they are: {}", segment_->iterator,
           expected_rows);
  }
  const auto rows =
      std::ranges::find_if(update_.loops.begin(), update_.loops.begin() + static_cast<std::ptrdiff_t>(depth),
                           [&](const Loop* loop) { return is_indexed_by(first_->access, Affine::of(loop->iterator)); });
  if (rows == update_.loops.begin() + static_cast<std::ptrdiff_t>(depth)) {
    refuse(first_->statement.part(), "{} is where loop {} starts: {}", print(first_->access), segment_->iterator,
           expected_rows);
  }
  rows_ = *rows;
  const bool is_one_array = first_->access.array == end_->access.array;
  const Affine behind = Affine::of(rows_->iterator) + (is_one_array ? 1 : 0);
  if (!is_indexed_by(end_->access, behind)) {
    refuse(end_->statement.part(), "{} is where loop {} ends, which starts at {}: expected {}[{}]", print(end_->access),
           segment_->iterator, print(first_->access), end_->access.array, print(behind));
  }
  const Affine count = rows_->upper + (is_one_array ? 1 : 0);
  for (const Load* load : {first_, end_}) {
    const Affine& declared = array(load->access.array).extents.front();
    if (declared != 0 && declared != count) {
      refuse(load->statement.part(), "{} is declared with {} elements, but loop {} runs to {}: expected {}",
             load->access.array, print(declared), rows_->iterator, print(rows_->upper), print(count));
    }
  }
}

/// The dense array's subscript columns[p], and how many columns there are.
void DenseSubscripts::find_columns() {
  const std::vector<Expression> both = factors(update_.action<Update>()->value);
  const NestPart part = update_.part(Element::factor, 1 - values_);
  const Access* dense = both[1 - values_].access();
  ESC_CHECK(dense != nullptr, "the factors of a nest as written are elements");
  if (dense->array == both[values_].access()->array) {
    refuse(part, "{} is both factors: expected three different arrays", dense->array);
  }
  if (array(dense->array).extents.size() != dense->subscripts.size()) {
    refuse(part, "{} has {} dimensions elsewhere in this function: expected as many throughout", dense->array,
           array(dense->array).extents.size());
  }
  for (std::size_t at = 0; at < dense->subscripts.size(); ++at) {
    const Load* load = load_named(dense->subscripts[at].affine);
    if (load != nullptr && is_indexed_by(load->access, Affine::of(segment_->iterator))) {
      column_ = load;
      dimension_ = at;
    }
  }
  if (column_ == nullptr) {
    refuse(part, "no subscript of {} is that of a column, columns[{}] alone: {}", dense->array, segment_->iterator,
           expected_rows);
  }
  for (const Load* bound : {first_, end_}) {
    if (bound->access.array == column_->access.array) {
      refuse(column_->statement.part(), "{} is loaded from {}, which says where rows begin or end: {}",
             print(column_->access), bound->access.array, expected_rows);
    }
  }
  column_count_ = array(dense->array).extents.at(dimension_);
  if (column_count_ == 0) {
    column_count_ = Affine::of(fresh_size());
  } else if (column_count_.is_constant() ? column_count_.constant() < 0
                                         : !column_count_.is_name(column_count_.terms().front().name)) {
    refuse(part,
           "{} is declared with {} elements in dimension {}, which are the columns of the sparse matrix: expected one "
           "size or a constant",
           dense->array, print(column_count_), dimension_ + 1);
  }
}

std::string DenseSubscripts::fresh_size() const {
  std::set<std::string> taken;
  for (const ArrayDeclaration& array : given_.arrays) {
    taken.insert(array.name);
    for (const Affine& extent : array.extents) {
      for (const Affine::Term& term : extent.terms()) {
        taken.insert(term.name);
      }
    }
  }
  for (const NestedStatement& statement : statements_) {
    taken.merge(names_in(*statement.statement));
    if (const auto* define = statement.action<Define>()) {
      taken.insert(define->name);
    }
    for (const Loop* loop : statement.loops) {
      taken.insert(loop->iterator);
      for (const Affine::Term& term : loop->upper.terms()) {
        taken.insert(term.name);
      }
    }
  }
  std::string name = "K";
  for (int number = 2; taken.contains(name); ++number) {
    name = fmt::format("K_{}", number);
  }
  return name;
}

/// Nothing else is loaded, and what is loaded is used for nothing else.
void DenseSubscripts::require_no_others() const {
  const Expression is_stored = is_nonzero(factors(update_.action<Update>()->value)[values_]);
  for (const Load& load : loads_) {
    if (&load != first_ && &load != end_ && load.access != column_->access) {
      refuse_load(load);
    }
    if (!std::ranges::all_of(load.statement.statement->guard,
                             [&](const Expression& one) { return one == is_stored; })) {
      refuse(load.statement.part(), "{} is loaded under a condition: expected it before that", print(load.access));
    }
  }
  for (const NestedStatement& statement : statements_) {
    const bool is_load =
        std::ranges::any_of(loads_, [&](const Load& load) { return load.statement.statement == statement.statement; });
    if (is_load) {
      continue;
    }
    const bool is_update = statement.statement == update_.statement;
    const bool is_in_segment =
        std::ranges::any_of(statement.loops, [&](const Loop* loop) { return is_segment(*loop); });
    const std::set<std::string> names =
        names_in(is_update ? over_whole_matrix(*statement.statement) : *statement.statement);
    const bool is_made_of_loads =
        std::ranges::any_of(loads_, [&](const Load& load) { return names.contains(load.name); });
    if (is_made_of_loads || (is_in_segment && !is_update)) {
      refuse(statement.part(), "what is loaded is used for more than the elements of a row and their columns here: {}",
             expected_rows);
    }
  }
}

/// With values[i][p] for values[p], B[p] for B[columns[p]], and under values[i][p] != 0.
Statement DenseSubscripts::over_whole_matrix(const Statement& statement) const {
  const std::vector<Expression> both = factors(std::get<Update>(statement.action).value);
  const Access values = *both[values_].access();
  const Access stored = element(values.array, {Affine::of(rows_->iterator), Affine::of(segment_->iterator)});
  const std::string dense = both[1 - values_].access()->array;
  Statement result = rewrite(statement, {.access = [&](Access access) {
                               if (access == values) {
                                 return stored;
                               }
                               if (access.array == dense) {
                                 access.subscripts.at(dimension_).affine = Affine::of(segment_->iterator);
                               }
                               return access;
                             }});
  if (std::ranges::find(result.guard, is_nonzero(stored)) == result.guard.end()) {
    result.guard.push_back(is_nonzero(stored));
  }
  return result;
}

Block DenseSubscripts::without_loads(const Block& block, std::vector<std::size_t>& given,
                                     std::vector<std::size_t>& path) {
  Block result;
  for (std::size_t at = 0; at < block.size(); ++at) {
    const auto* statement = std::get_if<Statement>(&block[at].content);
    if (statement != nullptr &&
        std::ranges::any_of(loads_, [&](const Load& load) { return load.statement.statement == statement; })) {
      continue;
    }
    given.push_back(at);
    path.push_back(result.size());
    given_paths_[path] = given;
    if (const auto* loop = std::get_if<Loop>(&block[at].content)) {
      Loop copy = *loop;
      if (loop == segment_) {
        copy.lower = 0;
        copy.upper = column_count_;
      }
      copy.body = without_loads(loop->body, given, path);
      result.push_back(Node{std::move(copy)});
    } else {
      result.push_back(Node{statement == update_.statement ? over_whole_matrix(*statement) : *statement});
    }
    given.pop_back();
    path.pop_back();
  }
  return result;
}

void DenseSubscripts::make_dense() {
  const std::vector<Expression> both = factors(update_.action<Update>()->value);
  const Access& values = *both[values_].access();
  has_guard_ = std::ranges::find(update_.statement->guard, is_nonzero(values)) != update_.statement->guard.end();
  std::vector<std::size_t> given;
  std::vector<std::size_t> path;
  given_paths_[{}] = {};
  dense_.body = without_loads(given_.body, given, path);
  for (const ArrayDeclaration& one : given_.arrays) {
    if (is_index(one.type)) {
      continue;
    }
    dense_.arrays.push_back(one);
    if (one.name == values.array) {
      dense_.arrays.back().extents = {rows_->upper, column_count_};
    } else if (one.name == both[1 - values_].access()->array) {
      dense_.arrays.back().extents.at(dimension_) = column_count_;
    }
  }
}

NestPart DenseSubscripts::given_part(const NestPart& part) const {
  NestPart result = part;
  result.path = given_paths_.at(part.path);
  if (part.element == Element::guard && result.path == update_.path && part.number >= update_.statement->guard.size()) {
    result.element = Element::factor;  // the guard that nobody has written
    result.number = values_;
  }
  return result;
}

Statement DenseSubscripts::over_stored_elements(const Statement& statement) const {
  const std::string values = factors(update_.action<Update>()->value)[values_].access()->array;
  const Affine position = Affine::of(segment_->iterator);
  Statement result = rewrite(statement, {.access = [&](Access access) {
                               if (access.array == values) {
                                 return element(values, {position});
                               }
                               for (Subscript& subscript : access.subscripts) {
                                 subscript.affine =
                                     subscript.affine.substitute(segment_->iterator, Affine::of(column_->name));
                               }
                               return access;
                             }});
  if (!has_guard_) {
    std::erase(result.guard, is_nonzero(element(values, {position})));
  }
  return result;
}

Block DenseSubscripts::with_loads(const Block& block) const {
  Block result;
  for (const Node& node : block) {
    if (const auto* statement = std::get_if<Statement>(&node.content)) {
      result.push_back(Node{over_stored_elements(*statement)});
      continue;
    }
    Loop loop = std::get<Loop>(node.content);
    const Block inner = with_loads(loop.body);
    loop.body = inner;
    if (loop.iterator == segment_->iterator) {
      loop.lower = segment_->lower;
      loop.upper = segment_->upper;
      result.push_back(define(first_->name, first_->access));
      result.push_back(define(end_->name, end_->access));
      loop.body = {define(column_->name, column_->access)};
      append(loop.body, inner);
    }
    result.push_back(Node{std::move(loop)});
  }
  return result;
}

LoopNest DenseSubscripts::over_stored_elements(const LoopNest& with_roles) const {
  LoopNest result = with_roles;
  result.body = with_loads(with_roles.body);
  result.arrays.clear();
  const auto add = [&](const std::string& name, ArrayRole role) {
    result.arrays.push_back(array(name));
    result.arrays.back().role = role;
  };
  for (const ArrayDeclaration& one : with_roles.arrays) {
    if (one.role != ArrayRole::sparse) {
      result.arrays.push_back(one);
      continue;
    }
    add(one.name, ArrayRole::packed_value);
    add(column_->access.array, ArrayRole::packed_index);
    add(first_->access.array, ArrayRole::packed_index);
    if (end_->access.array != first_->access.array) {
      add(end_->access.array, ArrayRole::packed_index);
    }
  }
  return result;
}

}  // namespace esc
