#include "generator/ir/interpret.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "generator/ir/evaluate.h"
#include "generator/ir/instruction.h"
#include "generator/ir/print.h"
#include "generator/ir/race_check.h"
#include "generator/ir/thread_state.h"
#include "generator/support/error.h"

namespace esc {
namespace {

constexpr std::int64_t lanes_of_warp = 32;

bool is_grid(Mapping mapping) { return mapping == Mapping::grid || mapping == Mapping::grid_y; }

bool is_thread(Mapping mapping) {
  return mapping != Mapping::sequential && mapping != Mapping::unrolled && !is_grid(mapping);
}

const Perform* performed(const Node& node) {
  const auto* statement = std::get_if<Statement>(&node.content);
  return statement == nullptr ? nullptr : std::get_if<Perform>(&statement->action);
}

bool holds_sync(const Block& block);

/// Whether threads wait for each other, or act together, in the node.
bool holds_sync(const Node& node) {
  if (std::holds_alternative<Barrier>(node.content)) {
    return true;
  }
  if (const Perform* perform = performed(node)) {
    return instruction(perform->instruction).scope != Scope::thread;
  }
  if (const auto* loop = std::get_if<Loop>(&node.content)) {
    return holds_sync(loop->body);
  }
  if (const auto* branch = std::get_if<Branch>(&node.content)) {
    return holds_sync(branch->then) || holds_sync(branch->otherwise);
  }
  return false;
}

bool holds_sync(const Block& block) {
  return std::ranges::any_of(block, [](const Node& node) { return holds_sync(node); });
}

using Threads = std::vector<ThreadState*>;

class Interpreter {
 public:
  Interpreter(const LoopNest& nest, Memory memory) : nest_(nest), memory_(std::move(memory)) {
    for (const auto& [name, value] : memory_.sizes) {
      sizes_[name] = static_cast<double>(value);
    }
    for (const auto& [name, value] : constants_of(nest)) {
      sizes_[name] = static_cast<double>(value);
    }
    thread_ = &root_;
    for (const DerivedSize& size : nest.derived_sizes) {
      sizes_[size.name] = static_cast<double>((evaluate(size.numerator) + size.divisor - 1) / size.divisor);
    }
    for (const ArrayDeclaration& array : nest.arrays) {
      if (array.role == ArrayRole::sparse) {
        sparse_ = array.name;
      } else if (array.role == ArrayRole::shared) {
        shared_.emplace(array.name, std::make_unique<OwnedArray>(extents_of(array), true));
      }
    }
    for (auto& [name, tensor] : memory_.arrays) {
      global_[name] = {tensor.extents, tensor.elements.data(), nullptr, false};
    }
  }

  Memory run() && {
    execute(nest_.body);
    return std::move(memory_);
  }

 private:
  std::vector<std::int64_t> extents_of(const ArrayDeclaration& array) {
    std::vector<std::int64_t> extents;
    for (const Affine& extent : array.extents) {
      extents.push_back(evaluate(extent));
    }
    return extents;
  }

  // One thread, one node after the other.

  void execute(const Block& block) {
    for (const Node& node : block) {
      std::visit([this](const auto& content) { execute(content); }, node.content);
    }
  }

  void execute(const Loop& loop) {
    if (is_thread(loop.mapping)) {
      run_threads(loop);
      return;
    }
    const std::int64_t lower = evaluate(loop.lower);
    const std::int64_t upper = evaluate(loop.upper);
    const std::int64_t step = evaluate(loop.step);
    ESC_CHECK((upper - lower) % loop.multiple == 0, fmt::format("{} iterations of loop {} are no multiple of {}",
                                                                upper - lower, loop.iterator, loop.multiple));
    ESC_CHECK(step > 0, "loop " + loop.iterator + " goes on");
    const std::int64_t outer_iteration = thread_->iteration;
    for (std::int64_t value = lower; value < upper; value += step) {
      if (is_grid(loop.mapping)) {
        thread_->iteration = ++iterations_;
        begin_block();
      }
      execute_with(loop.iterator, value, loop.body);
    }
    thread_->iteration = outer_iteration;
  }

  void begin_block() {
    for (auto& [name, array] : shared_) {
      array->reset(false);
    }
    ++phase_;
  }

  /// One iteration of a loop: what its body defines ends with it.
  void execute_with(const std::string& iterator, std::int64_t value, const Block& body) {
    const std::size_t opened = thread_->open();
    thread_->define(iterator, static_cast<double>(value));
    execute(body);
    thread_->close(opened);
  }

  void execute(const ColumnLoop& loop) {
    for (const std::int64_t column : columns(loop.set)) {
      execute_with(loop.iterator, column, loop.body);
    }
  }

  void execute(const Switch& choice) {
    std::uint64_t value = 0;
    if (const auto* pattern = std::get_if<ColumnPattern>(&choice.subject)) {
      value = column_mask(evaluate(pattern->first_row), evaluate(pattern->column), pattern->height);
    } else {
      value = static_cast<std::uint64_t>(value_of(std::get<std::string>(choice.subject)));
    }
    for (const Case& one : choice.cases) {
      const auto* pattern = std::get_if<Pattern>(&one.label);
      const std::uint64_t label =
          pattern != nullptr ? pattern->mask : static_cast<std::uint64_t>(std::get<std::int64_t>(one.label));
      if (label == value) {
        execute(one.body);
        return;
      }
    }
  }

  void execute(const Branch& branch) {
    const std::size_t opened = thread_->open();
    execute(holds(branch.condition) ? branch.then : branch.otherwise);
    thread_->close(opened);
  }

  void execute(const Barrier&) { throw Defect(__FILE__, __LINE__, "threads that wait", "a barrier outside of threads"); }
  void execute(const Note&) {}

  void execute(const Declare& declare) {
    const ArrayDeclaration* array = nest_.find_array(declare.array);
    ESC_CHECK(array != nullptr && array->role == ArrayRole::registers, "an array of registers: " + declare.array);
    std::shared_ptr<OwnedArray>& own = thread_->registers[declare.array];
    if (own == nullptr) {
      own = std::make_shared<OwnedArray>(extents_of(*array));
    }
    own->reset(declare.zero);
  }

  void execute(const Statement& statement) {
    const bool holds_here = std::ranges::all_of(statement.guard, [this](const auto& one) { return holds(one); });
    if (const auto* define = std::get_if<Define>(&statement.action)) {
      thread_->define(define->name, holds_here ? value(define->value) : 0.0);
    } else if (holds_here) {
      std::visit([this](const auto& action) { act(action); }, statement.action);
    } else if (const auto* perform = std::get_if<Perform>(&statement.action)) {
      for (const std::string& result : perform->results) {
        thread_->define(result, 0.0);
      }
    }
  }

  void act(const Define&) {}
  void act(const Store& store) { write(store.target, false) = value(store.value); }

  void act(const Update& update) {
    const double added = value(update.value);
    if (const auto* scalar = std::get_if<Name>(&update.target.content)) {
      double* const found = thread_->find(scalar->name);
      ESC_CHECK(found != nullptr, "no value for scalar " + scalar->name);
      *found += added;
      return;
    }
    const Access* target = update.target.access();
    ESC_CHECK(target != nullptr, "an element or a scalar is added to");
    if (!update.atomic) {
      read(*target);
    }
    write(*target, update.atomic) += added;
  }

  void act(const Copy& copy) {
    const ArrayView from = part(copy.source);
    const ArrayView to = part(copy.target);
    ESC_CHECK(from.size() == to.size(), "a copy of an equal part: " + print(copy.target));
    std::copy_n(from.elements, from.size(), to.elements);
    std::copy_n(from.written, from.size(), to.written);
  }

  // Instructions.

  /// The arguments of one thread as the instruction's parameters.
  std::map<std::string, ArrayView, std::less<>> bind_arrays(const Instruction& called, const Perform& perform) {
    std::map<std::string, ArrayView, std::less<>> arrays;
    for (std::size_t at = 0; at < called.parameters.size(); ++at) {
      const Instruction::Parameter& parameter = called.parameters[at];
      if (parameter.is_array()) {
        const Access* access = perform.arguments.at(at).access();
        ESC_CHECK(access != nullptr, "an array is given for " + parameter.name);
        // A pointer may stand behind the end, as long as nothing is done there.
        const bool stands_outside =
            parameter.passing == Instruction::Passing::pointer && is_outside(find_array(access->array), *access);
        arrays[parameter.name] = stands_outside ? ArrayView{{0}} : looked_at(part(*access), parameter);
      }
    }
    return arrays;
  }

  /// The part with the extents of the parameter, where it names some.
  ArrayView looked_at(ArrayView given, const Instruction::Parameter& parameter) {
    if (parameter.extents.empty()) {
      return given;
    }
    const std::int64_t room = given.size();
    given.extents.clear();
    for (const Affine& extent : parameter.extents) {
      given.extents.push_back(evaluate(extent));
    }
    ESC_CHECK(given.size() <= room, "there is room for " + parameter.name);
    return given;
  }

  void act(const Perform& perform) {
    const Instruction& called = instruction(perform.instruction);
    ESC_CHECK(called.scope == Scope::thread, "threads perform " + called.name + " together");
    auto arrays = bind_arrays(called, perform);
    std::vector<std::pair<std::string, double>> values;
    for (std::size_t at = 0; at < called.parameters.size(); ++at) {
      if (!called.parameters[at].is_array()) {
        values.emplace_back(called.parameters[at].name, value(perform.arguments.at(at)));
      }
    }
    ESC_CHECK(called.temporaries.empty(), "only lanes together need arrays between them");
    thread_->enter(std::move(arrays));
    for (const auto& [name, given] : values) {
      thread_->define(name, given);
    }
    execute(called.meaning);
    std::vector<double> results;
    for (const std::string& result : called.results) {
      results.push_back(value_of(result));
    }
    thread_->leave();
    for (std::size_t at = 0; at < results.size(); ++at) {
      thread_->define(perform.results.at(at), results[at]);
    }
  }

  /// Whether each thread has one, of registers.
  static bool is_own(const ArrayView& view) { return view.written != nullptr && !view.is_shared; }

  /// The lanes of one warp perform an instruction: what each has of its own stands side by side in arrays.
  void perform_together(const Threads& lanes, const Instruction& called, const Perform& perform) {
    ESC_CHECK(static_cast<std::int64_t>(lanes.size()) == lanes_of_warp,
              fmt::format("{} lanes of a warp perform {} together", lanes.size(), called.name));
    std::deque<OwnedArray> gathered;
    std::map<std::string, ArrayView, std::less<>> arrays;
    const auto gather = [&](const std::string& name, std::vector<std::int64_t> extents) -> ArrayView {
      extents.insert(extents.begin(), lanes_of_warp);
      return arrays[name] = gathered.emplace_back(std::move(extents)).view();
    };
    std::vector<std::map<std::string, ArrayView, std::less<>>> own(lanes.size());
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      thread_ = lanes[lane];
      own[lane] = bind_arrays(called, perform);
    }
    for (std::size_t at = 0; at < called.parameters.size(); ++at) {
      const Instruction::Parameter& parameter = called.parameters[at];
      if (parameter.is_array() && !is_own(own[0].at(parameter.name))) {
        arrays[parameter.name] = own[0].at(parameter.name);
        continue;
      }
      const ArrayView all = parameter.is_array() ? gather(parameter.name, own[0].at(parameter.name).extents)
                                               : gather(parameter.name, {});
      const std::int64_t size = all.size() / lanes_of_warp;
      for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        const std::int64_t first = static_cast<std::int64_t>(lane) * size;
        thread_ = lanes[lane];
        if (parameter.is_array()) {
          const ArrayView& one = own[lane].at(parameter.name);
          std::copy_n(one.elements, size, all.elements + first);
          std::copy_n(one.written, size, all.written + first);
        } else {
          all.elements[first] = value(perform.arguments.at(at));
          all.written[first] = 1;
        }
      }
    }
    for (const std::string& result : called.results) {
      gather(result, {});
    }
    for (const ArrayDeclaration& temporary : called.temporaries) {
      arrays[temporary.name] = gathered.emplace_back(extents_of(temporary)).view();
    }
    thread_ = lanes.front();
    thread_->enter(arrays);
    execute(called.meaning);
    thread_->leave();
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      for (const auto& [name, one] : own[lane]) {
        if (!is_own(one)) {
          continue;
        }
        const ArrayView& all = arrays.at(name);
        const std::int64_t first = static_cast<std::int64_t>(lane) * one.size();
        std::copy_n(all.elements + first, one.size(), one.elements);
        std::copy_n(all.written + first, one.size(), one.written);
      }
      for (std::size_t at = 0; at < called.results.size(); ++at) {
        lanes[lane]->define(perform.results.at(at), arrays.at(called.results[at]).elements[lane]);
      }
    }
  }

  // The threads of a block.

  /// The loops over threads that stand directly inside each other, and what the threads do.
  static const Block& thread_body(const Loop& outermost, std::vector<const Loop*>& loops) {
    const Loop* loop = &outermost;
    for (;;) {
      loops.push_back(loop);
      const auto* inner = loop->body.size() == 1 ? std::get_if<Loop>(&loop->body.front().content) : nullptr;
      if (inner == nullptr || !is_thread(inner->mapping)) {
        return loop->body;
      }
      loop = inner;
    }
  }

  void run_threads(const Loop& outermost) {
    ESC_CHECK(!inside_threads_, "loops over threads stand directly inside each other");
    inside_threads_ = true;
    ++phase_;
    std::vector<const Loop*> loops;
    const Block& body = thread_body(outermost, loops);
    std::vector<std::int64_t> extents;
    std::int64_t count = 1;
    std::int64_t warp_lanes = 1;
    for (const Loop* loop : loops) {
      extents.push_back(evaluate(loop->upper));
      count *= extents.back();
      warp_lanes *= loop->mapping == Mapping::lanes || loop->mapping == Mapping::lane_digit ? extents.back() : 1;
    }
    warp_size_ = loops.front()->mapping == Mapping::threads ? lanes_of_warp : warp_lanes;
    ThreadState* const around = thread_;
    std::vector<ThreadState> states(static_cast<std::size_t>(count), *around);
    Threads threads;
    for (std::int64_t number = 0; number < count; ++number) {
      ThreadState& state = states[static_cast<std::size_t>(number)];
      state.number = number;
      state.define("thread", static_cast<double>(number));
      state.define("warp", static_cast<double>(number / warp_size_));
      state.iteration = ++iterations_;
      std::int64_t rest = number;
      for (std::size_t at = loops.size(); at > 0; --at) {
        state.define(loops[at - 1]->iterator, static_cast<double>(rest % extents[at - 1]));
        rest /= extents[at - 1];
      }
      threads.push_back(&state);
    }
    all_threads_ = threads.size();
    execute_together(threads, body);
    thread_ = around;
    inside_threads_ = false;
    ++phase_;
  }

  void execute_together(const Threads& threads, const Block& block) {
    for (const Node& node : block) {
      execute_together(threads, node);
    }
  }

  void execute_together(const Threads& threads, const Node& node) {
    if (const auto* barrier = std::get_if<Barrier>(&node.content)) {
      wait(threads, *barrier);
      return;
    }
    if (!syncs(node)) {
      for (ThreadState* thread : threads) {
        thread_ = thread;
        std::visit([this](const auto& content) { execute(content); }, node.content);
      }
      return;
    }
    if (const Perform* perform = performed(node)) {
      const Instruction& called = instruction(perform->instruction);
      for (const Threads& lanes : warps_of(threads)) {
        perform_together(lanes, called, *perform);
      }
      return;
    }
    if (const auto* branch = std::get_if<Branch>(&node.content)) {
      Threads then;
      Threads otherwise;
      for (ThreadState* thread : threads) {
        thread_ = thread;
        (holds(branch->condition) ? then : otherwise).push_back(thread);
      }
      execute_scope(then, branch->then);
      execute_scope(otherwise, branch->otherwise);
      return;
    }
    throw Defect(__FILE__, __LINE__, "threads that meet", "threads wait for each other inside a loop");
  }

  void execute_scope(const Threads& threads, const Block& block) {
    std::vector<std::size_t> opened;
    for (const ThreadState* thread : threads) {
      opened.push_back(thread->open());
    }
    execute_together(threads, block);
    for (std::size_t at = 0; at < threads.size(); ++at) {
      threads[at]->close(opened[at]);
    }
  }

  void wait(const Threads& threads, const Barrier& barrier) {
    if (barrier.scope == Scope::block) {
      ESC_CHECK(threads.size() == all_threads_, "all threads of the block reach the barrier");
      ++phase_;
      return;
    }
    ++warp_phase_;
  }

  std::vector<Threads> warps_of(const Threads& threads) const {
    std::vector<Threads> warps;
    std::int64_t last = -1;
    for (ThreadState* thread : threads) {
      const std::int64_t warp = thread->number / warp_size_;
      if (warp != last) {
        warps.emplace_back();
        last = warp;
      }
      warps.back().push_back(thread);
    }
    return warps;
  }

  bool syncs(const Node& node) {
    const auto [entry, fresh] = syncs_.try_emplace(&node, false);
    if (fresh) {
      entry->second = holds_sync(node);
    }
    return entry->second;
  }

  // Values.

  bool holds(const Expression& condition) { return value(condition) != 0; }

  double value(const Expression& expression) {
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
      return calculate(*call, values(call->arguments));
    }
    return value(std::get<Operation>(expression.content));
  }

  double value(const Operation& operation) {
    if (operation.op == Operator::choose) {
      return value(operation.operands.at(holds(operation.operands.at(0)) ? 1 : 2));
    }
    if (operation.op == Operator::all) {
      return std::ranges::all_of(operation.operands, [this](const auto& one) { return holds(one); }) ? 1 : 0;
    }
    return calculate(operation.op, values(operation.operands));
  }

  std::vector<double> values(const std::vector<Expression>& expressions) {
    std::vector<double> result;
    result.reserve(expressions.size());
    for (const Expression& expression : expressions) {
      result.push_back(value(expression));
    }
    return result;
  }

  double value_of(const std::string& name) {
    if (const double* found = static_cast<const ThreadState*>(thread_)->find(name)) {
      return *found;
    }
    const auto size = sizes_.find(name);
    ESC_CHECK(size != sizes_.end(), "no value for " + name);
    return size->second;
  }

  std::int64_t evaluate(const Affine& affine) {
    std::int64_t sum = affine.constant();
    for (const Affine::Term& term : affine.terms()) {
      sum += term.coefficient * static_cast<std::int64_t>(value_of(term.name));
    }
    return sum;
  }

  // Arrays.

  const ArrayView& find_array(const std::string& name) {
    if (const ThreadState::Frame* frame = thread_->frame()) {
      if (const auto found = frame->arrays.find(name); found != frame->arrays.end()) {
        return found->second;
      }
    }
    if (const auto found = thread_->registers.find(name); found != thread_->registers.end()) {
      return found->second->view();
    }
    if (const auto found = shared_.find(name); found != shared_.end()) {
      return found->second->view();
    }
    const auto found = global_.find(name);
    ESC_CHECK(found != global_.end(), "no array " + name);
    return found->second;
  }

  /// The part of an array that some subscripts, of the outermost dimensions, choose. With all of them it is what begins at
  /// that element in the innermost dimension: nothing, where that stands behind the last one.
  ArrayView part(const Access& access) {
    ArrayView view = find_array(access.array);
    ESC_CHECK(access.subscripts.size() <= view.extents.size(), "rank of " + print(access));
    Access outer = access;
    std::int64_t first = 0;
    if (!access.subscripts.empty() && access.subscripts.size() == view.extents.size()) {
      first = index_of(access.subscripts.back());
      ESC_CHECK(first >= 0, fmt::format("{} begins in front of the array", print(access)));
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

  std::int64_t index_of(const Subscript& subscript) {
    return evaluate(subscript.affine) +
           (subscript.offset.empty() ? 0 : static_cast<std::int64_t>(value_of(subscript.offset)));
  }

  bool is_outside(const ArrayView& view, const Access& access) {
    for (std::size_t dimension = 0; dimension < access.subscripts.size(); ++dimension) {
      const std::int64_t index = index_of(access.subscripts[dimension]);
      if (index < 0 || index >= view.extents.at(dimension)) {
        return true;
      }
    }
    return false;
  }

  std::int64_t position_of(const ArrayView& view, const Access& access) {
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

  Moment now(const ArrayView& view) const {
    return view.is_shared ? Moment{thread_->iteration, phase_, thread_->number / warp_size_, warp_phase_}
                          : Moment{thread_->iteration, 0, 0, 0};
  }

  double read(const Access& access) {
    const ArrayView& view = find_array(access.array);
    ESC_CHECK(view.extents.size() == access.subscripts.size(), "rank of " + print(access));
    const std::int64_t at = position_of(view, access);
    ESC_CHECK(view.written == nullptr || view.written[at] != 0, print(access) + " is read before it is written");
    if (view.is_shared) {
      races_.read(view.elements + at, now(view), access);
    }
    return view.elements[at];
  }

  /// The element, to be written. No barrier orders the blocks' writes to what is not their own.
  double& write(const Access& access, bool atomic) {
    const ArrayView& view = find_array(access.array);
    ESC_CHECK(view.extents.size() == access.subscripts.size(), "rank of " + print(access));
    const std::int64_t at = position_of(view, access);
    if (view.written != nullptr) {
      ESC_CHECK(!atomic || view.written[at] != 0, print(access) + " is added to before it is written");
      view.written[at] = 1;
    }
    if (view.is_shared || view.written == nullptr) {
      races_.write(view.elements + at, now(view), atomic, access);
    }
    return view.elements[at];
  }

  // The pattern of the sparse array.

  std::uint64_t column_mask(std::int64_t first_row, std::int64_t column, int height) const {
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

  /// The columns of a set, computed once for each panel and pattern.
  const std::vector<std::int64_t>& columns(const ColumnSet& set) {
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

  const LoopNest& nest_;
  Memory memory_;
  std::unordered_map<std::string, double> sizes_;
  std::map<std::string, ArrayView, std::less<>> global_;
  std::map<std::string, std::unique_ptr<OwnedArray>, std::less<>> shared_;
  std::map<std::tuple<std::int64_t, Pattern, Membership>, std::vector<std::int64_t>> columns_;
  std::unordered_map<const Node*, bool> syncs_;
  RaceCheck races_;
  std::string sparse_;
  ThreadState root_;
  ThreadState* thread_ = nullptr;
  std::int64_t iterations_ = 0;
  std::int64_t phase_ = 0;
  std::int64_t warp_phase_ = 0;
  std::int64_t warp_size_ = 1;
  std::size_t all_threads_ = 0;
  bool inside_threads_ = false;
};

}  // namespace

Memory interpret(const LoopNest& nest, Memory memory) {
  for (const LoopNest& before : nest.before) {
    memory = interpret(before, std::move(memory));
  }
  return Interpreter(nest, std::move(memory)).run();
}

}  // namespace esc
