// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/nest_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "generator/ir/evaluate.h"
#include "generator/ir/print.h"
#include "generator/support/error.h"

namespace esc {

NestState::NestState(const LoopNest& nest, Memory memory) : memory_(std::move(memory)), constants_(constants_of(nest)) {
  for (const auto& [name, value] : memory_.sizes) {
    sizes_.add(name, static_cast<double>(value));
  }
  for (const auto& [name, value] : constants_) {
    sizes_.add(name, static_cast<double>(value));
  }
  thread_ = &root_;
  for (const DerivedSize& size : nest.derived_sizes) {
    sizes_.add(size.name, static_cast<double>((evaluate(size.numerator) + size.divisor - 1) / size.divisor));
  }
  for (const ArrayDeclaration& array : nest.arrays) {
    if (array.role == ArrayRole::sparse) {
      sparse_ = array.name;
    } else if (array.role == ArrayRole::shared) {
      shared_.push_back(&array);
    } else if (array.role == ArrayRole::cluster) {
      of_cluster_.emplace(array.name, std::make_unique<OwnedArray>(extents_of(array), Owner::cluster));
    }
  }
  for (auto& [name, tensor] : memory_.arrays) {
    global_[name] = {tensor.extents, tensor.elements.data(), nullptr};
  }
  for (const ArrayDeclaration& array : nest.arrays) {
    if (!array.values.empty()) {
      tables_.push_back(array.values);
      global_[array.name] = {extents_of(array), tables_.back().data(), nullptr};
    }
  }
}

void NestState::begin_cluster() {
  for (auto& [name, array] : of_cluster_) {
    array->reset(false);
  }
  first_cluster_phase_ = ++latest_phase_;
}

void NestState::begin_block(std::size_t rank) {
  if (rank >= blocks_.size()) {
    blocks_.resize(rank + 1);
  }
  run_in_block(rank);
  for (const ArrayDeclaration* const array : shared_) {
    std::unique_ptr<OwnedArray>& own = block_->shared[array->name];
    if (own == nullptr) {
      own = std::make_unique<OwnedArray>(extents_of(*array), Owner::block);
    }
    own->reset(false);
  }
  block_->phase = ++latest_phase_;
  block_->cluster_phase = first_cluster_phase_;
}

void NestState::pass_barrier(Scope scope) {
  if (scope == Scope::cluster) {
    ++block_->cluster_phase;  // the blocks of a cluster count alike
    latest_phase_ = std::max(latest_phase_, block_->cluster_phase);
  }
  (scope == Scope::warp             ? block_->warp_phase
   : scope == Scope::consumer_group ? block_->consumer_group_phase
                                    : block_->phase) = ++latest_phase_;
}

std::vector<std::int64_t> NestState::extents_of(const ArrayDeclaration& array) {
  std::vector<std::int64_t> extents;
  for (const Affine& extent : array.extents) {
    extents.push_back(evaluate(extent));
  }
  return extents;
}

double NestState::value(const Expression& expression) {
  if (const Affine* affine = expression.affine()) {
    return static_cast<double>(evaluate(*affine));
  }
  if (const Access* access = expression.access()) {
    return read(*access);
  }
  if (const auto* name = std::get_if<Name>(&expression.content)) {
    return value_of(name->name);
  }
  if (const auto* constant = std::get_if<double>(&expression.content)) {
    return *constant;
  }
  if (const auto* count = std::get_if<ColumnCount>(&expression.content)) {
    return static_cast<double>(columns(count->set).size());
  }
  if (const auto* at = std::get_if<ColumnAt>(&expression.content)) {
    return static_cast<double>(columns(at->set).at(static_cast<std::size_t>(evaluate(at->position))));
  }
  if (const auto* convert = std::get_if<Convert>(&expression.content)) {
    return value(convert->operand.at(0));
  }
  if (const auto* call = std::get_if<Call>(&expression.content)) {
    return with_values(call->arguments,
                       [call](std::span<const double> arguments) { return calculate(*call, arguments); });
  }
  return value(std::get<Operation>(expression.content));
}

double NestState::value(const Operation& operation) {
  if (operation.op == Operator::choose) {
    return value(operation.operands.at(holds(operation.operands.at(0)) ? 1 : 2));
  }
  if (operation.op == Operator::all) {
    return std::ranges::all_of(operation.operands, [this](const auto& one) { return holds(one); }) ? 1 : 0;
  }
  if (operation.op == Operator::any) {
    return std::ranges::any_of(operation.operands, [this](const auto& one) { return holds(one); }) ? 1 : 0;
  }
  return with_values(operation.operands,
                     [&](std::span<const double> operands) { return calculate(operation.op, operands); });
}

template <typename Use>
double NestState::with_values(const std::vector<Expression>& expressions, const Use& use) {
  const auto fill = [&](std::span<double> values) {
    std::ranges::transform(expressions, values.begin(), [this](const Expression& one) { return value(one); });
    return use(values);
  };
  // Nearly all have few, and asking for memory takes longer than what they do.
  std::array<double, 4> few;
  if (expressions.size() <= few.size()) {
    return fill(std::span(few).first(expressions.size()));
  }
  std::vector<double> many(expressions.size());
  return fill(many);
}

double NestState::value_of(const std::string& name) {
  const SoughtName sought(name);
  if (const double* found = static_cast<const ThreadState*>(thread_)->find(sought)) {
    return *found;
  }
  const double* size = sizes_.find(sought);
  ESC_CHECK(size != nullptr, "no value for " + name);
  return *size;
}

std::int64_t NestState::evaluate(const Affine& affine) {
  std::int64_t sum = affine.constant();
  for (const Affine::Term& term : affine.terms()) {
    sum += term.coefficient * static_cast<std::int64_t>(value_of(term.name));
  }
  return sum;
}

const ArrayView& NestState::find_array(const std::string& name) {
  if (const ThreadState::Frame* frame = thread_->frame()) {
    if (const ArrayView* found = frame->find(name)) {
      return *found;
    }
  }
  if (const auto found = thread_->registers.find(name); found != thread_->registers.end()) {
    return found->second->view();
  }
  if (const auto found = block_->shared.find(name); found != block_->shared.end()) {
    return found->second->view();
  }
  if (const auto found = of_cluster_.find(name); found != of_cluster_.end()) {
    return found->second->view();
  }
  const auto found = global_.find(name);
  ESC_CHECK(found != global_.end(), "no array " + name);
  return found->second;
}

ArrayView NestState::part(const Access& access) {
  ArrayView view = find_array(access.array);
  ESC_CHECK(access.subscripts.size() <= view.extents.size(), "rank of " + print(access));
  Access outer = access;
  std::int64_t first = 0;
  if (!access.subscripts.empty() && access.subscripts.size() == view.extents.size()) {
    first = index_of(access.subscripts.back());
    ESC_CHECK(first >= 0, fmt::format("{} begins before the array", print(access)));
    first = std::min(first, view.extents.back());
    outer.subscripts.pop_back();
  }
  const std::int64_t position = position_of(view, outer) + first;
  view.extents.erase(view.extents.begin(), view.extents.begin() + static_cast<std::ptrdiff_t>(outer.subscripts.size()));
  if (!view.extents.empty()) {
    view.extents.front() -= first;
  }
  view.elements += position;
  view.written += view.written == nullptr ? 0 : position;
  return view;
}

std::int64_t NestState::index_of(const Subscript& subscript) {
  return evaluate(subscript.affine) +
         (subscript.offset.empty() ? 0 : static_cast<std::int64_t>(value_of(subscript.offset)));
}

bool NestState::is_outside(const ArrayView& view, const Access& access) {
  for (std::size_t dimension = 0; dimension < access.subscripts.size(); ++dimension) {
    const std::int64_t index = index_of(access.subscripts[dimension]);
    if (index < 0 || index >= view.extents.at(dimension)) {
      return true;
    }
  }
  return false;
}

std::int64_t NestState::position_of(const ArrayView& view, const Access& access) {
  std::int64_t position = 0;
  for (std::size_t dimension = 0; dimension < view.extents.size(); ++dimension) {
    std::int64_t index = 0;
    if (dimension < access.subscripts.size()) {
      index = index_of(access.subscripts[dimension]);
      ESC_CHECK(index >= 0 && index < view.extents[dimension],
                fmt::format("{} is outside the array: index {} of dimension {}", print(access), index, dimension));
    }
    position = position * view.extents[dimension] + index;
  }
  return position;
}

Moment NestState::now(const ArrayView& view) const {
  switch (view.owner) {
    case Owner::block:
      return {thread_->iteration,
              block_->phase,
              {thread_->consumer_group, block_->consumer_group_phase},
              {thread_->number / warp_size_, block_->warp_phase}};
    case Owner::cluster:
      return {thread_->iteration, block_->cluster_phase};
    case Owner::memory_or_thread:
      break;
  }
  return {thread_->iteration};
}

void NestState::check_begun(const ArrayView& view, const Access& access) const {
  ESC_CHECK(view.owner != Owner::cluster || block_->cluster_phase > first_cluster_phase_,
            print(access) + " is touched before a barrier of the cluster: the block that has it may not have begun");
}

double NestState::read(const Access& access) {
  const ArrayView& view = find_array(access.array);
  ESC_CHECK(view.extents.size() == access.subscripts.size(), "rank of " + print(access));
  const std::int64_t at = position_of(view, access);
  ESC_CHECK(view.written == nullptr || view.written[at] != 0, print(access) + " is read before it is written");
  if (view.is_shared()) {
    check_begun(view, access);
    races_.read(view.elements + at, now(view), access);
  }
  return view.elements[at];
}

double& NestState::write(const Access& access, bool atomic) {
  const ArrayView& view = find_array(access.array);
  ESC_CHECK(view.extents.size() == access.subscripts.size(), "rank of " + print(access));
  const std::int64_t at = position_of(view, access);
  if (view.written != nullptr) {
    ESC_CHECK(!atomic || view.written[at] != 0, print(access) + " is added to before it is written");
    view.written[at] = 1;
  }
  if (view.is_shared() || view.written == nullptr) {
    check_begun(view, access);
    races_.write(view.elements + at, now(view), atomic, access);
  }
  return view.elements[at];
}

std::uint64_t NestState::column_mask(std::int64_t first_row, std::int64_t column, int height) const {
  const Tensor& a = memory_.arrays.at(sparse_);
  std::uint64_t result = 0;
  for (int row = 0; row < height && first_row + row < a.extents[0]; ++row) {
    const auto position = static_cast<std::size_t>((first_row + row) * a.extents[1] + column);
    if (a.elements[position] != 0.0) {
      result |= std::uint64_t{1} << row;
    }
  }
  return result;
}

const std::vector<std::int64_t>& NestState::columns(const ColumnSet& set) {
  const Pattern& pattern = set.pattern;
  const auto first_row = static_cast<std::int64_t>(value_of(set.first_row));
  const auto [entry, fresh] = columns_.try_emplace({first_row, pattern, set.membership});
  if (fresh) {
    const std::int64_t count = memory_.arrays.at(sparse_).extents[1];
    for (std::int64_t column = 0; column < count; ++column) {
      const std::uint64_t mask = column_mask(first_row, column, pattern.height);
      if (set.membership == Membership::any ? (mask & pattern.mask) != 0 : mask == pattern.mask) {
        entry->second.push_back(column);
      }
    }
  }
  return entry->second;
}

}  // namespace esc
