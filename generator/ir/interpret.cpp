// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/interpret.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "generator/ir/instruction.h"
#include "generator/ir/instruction_arguments.h"
#include "generator/ir/nest_state.h"
#include "generator/ir/print.h"
#include "generator/ir/rewrite.h"
#include "generator/ir/thread_state.h"
#include "generator/ir/thread_sync.h"
#include "generator/support/error.h"

namespace esc {
namespace {

class Interpreter {
 public:
  Interpreter(const LoopNest& nest, Memory memory) : nest_(nest), state_(nest, std::move(memory)) {}

  Memory run() && {
    execute(nest_.body);
    return std::move(state_).take();
  }

 private:
  // One thread, one node after the other.

  void execute(const Block& block) {
    for (const Node& node : block) {
      std::visit([this](const auto& content) { execute(content); }, node.content);
    }
  }

  void execute(const Loop& loop) {
    if (is_thread(loop.mapping)) {
      BlockThreads threads = begin_threads(loop);
      execute_together(threads.all, *threads.body);
      state_.pass_barrier(Scope::block);
      end_threads();
      return;
    }
    if (loop.mapping == Mapping::cluster) {
      run_cluster(loop);
      return;
    }
    const std::int64_t lower = state_.evaluate(loop.lower);
    const std::int64_t upper = state_.evaluate(loop.upper);
    const std::int64_t step = state_.evaluate(loop.step);
    ESC_CHECK(step > 0, "loop " + loop.iterator + " goes on");
    const std::int64_t outer_iteration = state_.thread().iteration;
    for (std::int64_t value = lower; value < upper; value += step) {
      if (is_grid(loop.mapping)) {
        state_.thread().iteration = ++iterations_;
        state_.begin_block();
      }
      execute_with(loop.iterator, value, loop.body);
    }
    state_.thread().iteration = outer_iteration;
  }

  /// One iteration of a loop: what its body defines ends with it.
  void execute_with(const std::string& iterator, std::int64_t value, const Block& body) {
    const std::size_t opened = state_.thread().open();
    state_.thread().define(iterator, static_cast<double>(value));
    execute(body);
    state_.thread().close(opened);
  }

  void execute(const ColumnLoop& loop) {
    for (const std::int64_t column : state_.columns(loop.set)) {
      execute_with(loop.iterator, column, loop.body);
    }
  }

  void execute(const Switch& choice) {
    std::uint64_t value = 0;
    if (const auto* pattern = std::get_if<ColumnPattern>(&choice.subject)) {
      value =
          state_.column_mask(state_.evaluate(pattern->first_row), state_.evaluate(pattern->column), pattern->height);
    } else {
      value = static_cast<std::uint64_t>(state_.value_of(std::get<std::string>(choice.subject)));
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
    const std::size_t opened = state_.thread().open();
    execute(state_.holds(branch.condition) ? branch.then : branch.otherwise);
    state_.thread().close(opened);
  }

  void execute(const Barrier&) {
    throw Defect(__FILE__, __LINE__, "threads that wait", "a barrier outside of threads");
  }
  void execute(const Note&) {}

  void execute(const Declare& declare) {
    const ArrayDeclaration* array = nest_.find_array(declare.array);
    ESC_CHECK(array != nullptr && array->role == ArrayRole::registers, "an array of registers: " + declare.array);
    std::shared_ptr<OwnedArray>& own = state_.thread().registers[declare.array];
    if (own == nullptr) {
      own = std::make_shared<OwnedArray>(state_.extents_of(*array));
    }
    own->reset(declare.zero);
  }

  void execute(const Statement& statement) {
    const bool holds_here = std::ranges::all_of(statement.guard, [this](const auto& one) { return state_.holds(one); });
    if (const auto* define = std::get_if<Define>(&statement.action)) {
      state_.thread().define(define->name, holds_here ? state_.value(define->value) : 0.0);
    } else if (holds_here) {
      std::visit([this](const auto& action) { act(action); }, statement.action);
    } else if (const auto* perform = std::get_if<Perform>(&statement.action)) {
      for (const std::string& result : perform->results) {
        state_.thread().define(result, 0.0);
      }
    }
  }

  void act(const Define&) {}
  void act(const Store& store) { state_.write(store.target, false) = state_.value(store.value); }

  void act(const Update& update) {
    const double added = state_.value(update.value);
    if (const auto* scalar = std::get_if<Name>(&update.target.content)) {
      double* const found = state_.thread().find(scalar->name);
      ESC_CHECK(found != nullptr, "no value for scalar " + scalar->name);
      *found += added;
      return;
    }
    const Access* target = update.target.access();
    ESC_CHECK(target != nullptr, "an element or a scalar is added to");
    if (!update.atomic) {
      state_.read(*target);
    }
    state_.write(*target, update.atomic) += added;
  }

  void act(const Copy& copy) {
    const ArrayView from = state_.part(copy.source);
    const ArrayView to = state_.part(copy.target);
    ESC_CHECK(from.size() == to.size(), "a copy of an equal part: " + print(copy.target));
    std::copy_n(from.elements, from.size(), to.elements);
    std::copy_n(from.written, from.size(), to.written);
  }

  // Instructions.

  void act(const Perform& perform) {
    const Instruction& called = instruction(perform.instruction);
    ESC_CHECK(called.scope == Scope::thread, "threads perform " + called.name + " together");
    auto arrays = bind_arrays(state_, called, perform);
    std::vector<std::pair<std::string_view, double>> values;
    for (std::size_t at = 0; at < called.parameters.size(); ++at) {
      if (!called.parameters[at].is_array()) {
        values.emplace_back(called.parameters[at].name, state_.value(perform.arguments.at(at)));
      }
    }
    ESC_CHECK(called.temporaries.empty(), "only lanes together need arrays between them");
    state_.thread().enter(std::move(arrays));
    for (const auto& [name, given] : values) {
      state_.thread().define(name, given);
    }
    execute(called.meaning);
    std::vector<double> results;
    for (const std::string& result : called.results) {
      results.push_back(state_.value_of(result));
    }
    state_.thread().leave();
    for (std::size_t at = 0; at < results.size(); ++at) {
      state_.thread().define(perform.results.at(at), results[at]);
    }
  }

  /// The lanes of one warp perform an instruction.
  void perform_together(const Threads& lanes, const Instruction& called, const Perform& perform) {
    const WarpArguments arguments(state_, lanes, called, perform);
    state_.run_as(*lanes.front());
    state_.thread().enter(arguments.arrays());
    execute(called.meaning);
    state_.thread().leave();
    arguments.hand_back(lanes, called, perform);
  }

  // The threads of a block.

  /// The loops over threads that are directly inside each other, and what the threads do.
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

  /// The threads of a block, and what they do.
  struct BlockThreads {
    std::vector<ThreadState> states;
    Threads all;
    const Block* body = nullptr;
  };

  /// The blocks of a cluster do each step of their threads before any of them does the next one, the last block first.
  /// So each finds after a barrier of the cluster what any other has written before it.
  void run_cluster(const Loop& loop) {
    ESC_CHECK(state_.evaluate(loop.lower) == 0 && state_.evaluate(loop.step) == 1, "all blocks of the cluster run");
    const auto* threads = loop.body.size() == 1 ? std::get_if<Loop>(&loop.body.front().content) : nullptr;
    ESC_CHECK(threads != nullptr && is_thread(threads->mapping), "a block of a cluster is its threads");
    const auto count = static_cast<std::size_t>(state_.evaluate(loop.upper));
    ThreadState& around = state_.thread();
    const std::int64_t outer_iteration = around.iteration;
    state_.begin_cluster();
    std::vector<BlockThreads> blocks(count);
    const auto in_each_block = [&](const auto& work) {
      for (std::size_t rank = count; rank-- > 0;) {
        state_.run_in_block(rank);
        work(blocks[rank]);
      }
    };
    for (std::size_t rank = count; rank-- > 0;) {
      state_.run_as(around);
      around.iteration = ++iterations_;
      state_.begin_block(rank);
      const std::size_t opened = around.open();
      around.define(loop.iterator, static_cast<double>(rank));
      blocks[rank] = begin_threads(*threads);
      around.close(opened);
    }
    for (const Node& step : *blocks.front().body) {
      inside_step_ = !std::holds_alternative<Barrier>(step.content);
      in_each_block([&](BlockThreads& block) { execute_together(block.all, step); });
    }
    inside_step_ = false;
    in_each_block([&](BlockThreads&) { state_.pass_barrier(Scope::block); });
    end_threads();
    around.iteration = outer_iteration;
  }

  BlockThreads begin_threads(const Loop& outermost) {
    ESC_CHECK(around_threads_ == nullptr || around_threads_ == &state_.thread(),
              "loops over threads are directly inside each other");
    around_threads_ = &state_.thread();
    state_.pass_barrier(Scope::block);
    std::vector<const Loop*> loops;
    const Block& body = thread_body(outermost, loops);
    std::vector<std::int64_t> extents;
    std::int64_t count = 1;
    std::int64_t warp_lanes = 1;
    for (const Loop* loop : loops) {
      extents.push_back(state_.evaluate(loop->upper));
      count *= extents.back();
      warp_lanes *= loop->mapping == Mapping::lanes || loop->mapping == Mapping::lane_digit ? extents.back() : 1;
    }
    state_.set_warp_size(loops.front()->mapping == Mapping::threads ? lanes_of_warp : warp_lanes);
    BlockThreads result{std::vector<ThreadState>(static_cast<std::size_t>(count), state_.thread()), {}, &body};
    for (std::int64_t number = 0; number < count; ++number) {
      ThreadState& state = result.states[static_cast<std::size_t>(number)];
      state.number = number;
      state.define("thread", static_cast<double>(number));
      state.define("warp", static_cast<double>(number / state_.warp_size()));
      state.iteration = ++iterations_;
      std::int64_t rest = number;
      for (std::size_t at = loops.size(); at > 0; --at) {
        const std::int64_t index = rest % extents[at - 1];
        state.define(loops[at - 1]->iterator, static_cast<double>(index));
        state.consumer_group = loops[at - 1]->iterator == nest_.consumer_group ? index : state.consumer_group;
        rest /= extents[at - 1];
      }
      result.all.push_back(&state);
    }
    all_threads_ = result.all.size();
    return result;
  }

  void end_threads() { state_.run_as(*std::exchange(around_threads_, nullptr)); }

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
        state_.run_as(*thread);
        std::visit([this](const auto& content) { execute(content); }, node.content);
      }
      return;
    }
    if (const auto* perform = action<Perform>(node)) {
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
        state_.run_as(*thread);
        (state_.holds(branch->condition) ? then : otherwise).push_back(thread);
      }
      execute_scope(then, branch->then);
      execute_scope(otherwise, branch->otherwise);
      return;
    }
    const auto* loop = std::get_if<Loop>(&node.content);
    ESC_CHECK(loop != nullptr, "threads meet in statements, branches and loops");
    iterate_together(threads, *loop);
  }

  /// A loop in which threads wait for each other: all of them go round it as often.
  void iterate_together(const Threads& threads, const Loop& loop) {
    if (threads.empty()) {
      return;
    }
    const auto bounds = [&](ThreadState& thread) {
      state_.run_as(thread);
      return std::array{state_.evaluate(loop.lower), state_.evaluate(loop.upper), state_.evaluate(loop.step)};
    };
    const auto [lower, upper, step] = bounds(*threads.front());
    for (ThreadState* thread : threads) {
      ESC_CHECK((bounds(*thread) == std::array{lower, upper, step}),
                "threads that meet in loop " + loop.iterator + " have one number of iterations");
    }
    ESC_CHECK(step > 0, "loop " + loop.iterator + " goes on");
    for (std::int64_t value = lower; value < upper; value += step) {
      std::vector<std::size_t> opened;
      for (ThreadState* thread : threads) {
        opened.push_back(thread->open());
        thread->define(loop.iterator, static_cast<double>(value));
      }
      execute_together(threads, loop.body);
      for (std::size_t at = 0; at < threads.size(); ++at) {
        threads[at]->close(opened[at]);
      }
    }
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
    ESC_CHECK(barrier.scope == Scope::warp || threads.size() == all_threads_,
              "all threads of the block reach the barrier");
    ESC_CHECK(barrier.scope != Scope::cluster || !inside_step_, "all blocks of the cluster reach the barrier");
    ESC_CHECK(barrier.scope != Scope::consumer_group || !nest_.consumer_group.empty(),
              "a barrier of consumer groups in a nest that has some");
    state_.pass_barrier(barrier.scope);
  }

  std::vector<Threads> warps_of(const Threads& threads) const {
    std::vector<Threads> warps;
    std::int64_t last = -1;
    for (ThreadState* thread : threads) {
      const std::int64_t warp = thread->number / state_.warp_size();
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

  const LoopNest& nest_;
  NestState state_;
  std::unordered_map<const Node*, bool> syncs_;
  std::int64_t iterations_ = 0;
  std::size_t all_threads_ = 0;
  bool inside_step_ = false;               ///< of the blocks of a cluster, each of which does it whole
  ThreadState* around_threads_ = nullptr;  ///< what runs beside the threads of the running block, where it has begun
};

}  // namespace

Memory interpret(const LoopNest& nest, Memory memory) {
  for (const LoopNest& before : nest.before) {
    memory = interpret(before, std::move(memory));
  }
  memory = Interpreter(nest, std::move(memory)).run();
  return nest.epilogue ? Interpreter(nest_of_epilogue(nest), std::move(memory)).run() : memory;
}

}  // namespace esc
