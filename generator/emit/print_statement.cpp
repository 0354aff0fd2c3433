// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/print_statement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "generator/emit/half_text.h"
#include "generator/emit/layout_text.h"
#include "generator/ir/print.h"
#include "generator/ir/rewrite.h"
#include "generator/ir/roles.h"
#include "generator/support/error.h"
#include "generator/support/replace_all.h"

namespace esc {
namespace {

std::string guarded(const std::string& guard, const std::string& statement) {
  return guard.empty() ? statement : fmt::format("if ({}) {{\n{}}}\n", guard, statement);
}

/// Whether the rounds of a loop take over packets that the one before has loaded.
bool takes_over(const Loop& rounds) {
  return std::ranges::any_of(rounds.body, [](const Node& node) {
    const auto* packets = std::get_if<Loop>(&node.content);
    return packets != nullptr && std::ranges::any_of(packets->body, action<Copy>);
  });
}

}  // namespace

std::string StatementPrinter::guard_text(const Guard& guard) const {
  return guard.empty() ? "" : expressions_.print(all_of(guard));
}

std::string StatementPrinter::print(const Define& define, const std::string& guard) {
  types_[define.name] = define.type;
  const bool index = is_index(define.type);
  const std::string value = expressions_.print(define.value);
  const std::string whole =
      guard.empty() ? value
                    : fmt::format("{} ? {} : {}", guard, value, index ? "0" : expressions_.print(Expression(0.0)));
  // Scalars that begin at a constant are sums; the others do not change.
  const bool sum = !index && std::holds_alternative<double>(define.value.content);
  return fmt::format("{}{} {} = {};\n", sum || define.moves ? "" : "const ", c_name(define.type), define.name, whole);
}

std::string StatementPrinter::print(const Update& update) const {
  const std::string value = expressions_.print(update.value);
  if (!update.atomic) {
    return fmt::format("{} += {};\n", expressions_.print(update.target), value);
  }
  return fmt::format("atomicAdd(&{}, {});\n", expressions_.print(update.target), value);
}

std::string StatementPrinter::print(const Perform& perform, const std::string& guard) const {
  const Instruction& called = instruction(perform.instruction);
  ESC_CHECK(called.parameters.size() == perform.arguments.size(), "an argument for each parameter of " + called.name);
  const bool placed = is_placed(nest_, perform);
  std::string call = placed ? called.placed_call : called.call;
  call = replace_all(std::move(call), "{places}", nest_.packed.is_shape_generic ? "packed, " : "");
  call = replace_all(std::move(call), "{of_layer}", nest_.packed.is_shape_generic ? "packed." : "");
  if (constexpr const char* hole = "{leading_dimension}"; call.find(hole) != call.npos) {
    const ArrayDeclaration* const first = nest_.find_array(perform.arguments.front().access()->array);
    call = replace_all(std::move(call), hole, expressions_.leading_dimension(*first));
  }
  for (std::size_t at = 0; at < called.parameters.size(); ++at) {
    const bool is_element = placed && at == 0 && !perform.arguments.front().access()->subscripts.empty();
    call = replace_all(std::move(call), "{" + called.parameters[at].name + "}",
                       is_element ? expressions_.place_arguments(*perform.arguments.front().access())
                                  : expressions_.argument(perform.arguments[at], called.parameters[at]));
  }
  if (perform.results.empty()) {
    return guarded(guard, call + "\n");
  }
  const std::string value = guard.empty() ? call : fmt::format("{} ? {} : {}{{}}", guard, call, called.record);
  return perform.results.size() == 1
             ? fmt::format("{}auto {} = {};\n", called.moves ? "" : "const ", perform.results.front(), value)
             : fmt::format("const auto [{}] = {};\n", fmt::join(perform.results, ", "), value);
}

std::string StatementPrinter::stored_value(const Store& store) const {
  const ScalarType type = nest_.find_array(store.target.array)->type;
  const Access* const source = store.value.access();
  const bool moved = source != nullptr && nest_.find_array(source->array)->type == type;
  return moved ? expressions_.access(*source) : narrowed(type, expressions_.print(store.value));
}

std::string StatementPrinter::print(const Statement& statement) {
  const std::string guard = guard_text(statement.guard);
  if (const auto* define = std::get_if<Define>(&statement.action)) {
    return print(*define, guard);
  }
  if (const auto* perform = std::get_if<Perform>(&statement.action)) {
    return print(*perform, guard);
  }
  if (const auto* update = std::get_if<Update>(&statement.action)) {
    return guarded(guard, print(*update));
  }
  if (const auto* store = std::get_if<Store>(&statement.action)) {
    return guarded(guard, fmt::format("{} = {};\n", expressions_.access(store->target), stored_value(*store)));
  }
  const auto& copy = std::get<Copy>(statement.action);
  const Instruction::Parameter whole{"", Instruction::Passing::array};
  return guarded(guard, fmt::format("{} = {};\n", expressions_.argument(copy.target, whole),
                                    expressions_.argument(copy.source, whole)));
}

bool StatementPrinter::is_unsigned(const Affine& affine) const {
  return std::ranges::any_of(affine.terms(), [this](const Affine::Term& term) {
    const auto type = types_.find(term.name);
    return term.name == "N" || term.name == "length" || (type != types_.end() && type->second == ScalarType::u32);
  });
}

const char* StatementPrinter::type_of(const Loop& loop) const {
  return is_unsigned(loop.lower) || is_unsigned(loop.upper) ? "unsigned int" : "int";
}

std::string StatementPrinter::print(const Loop& loop) {
  // The schedule says how far to unroll, not the compiler. Two rounds take turns with two sets of registers: to copy a
  // packet would be to wait for it.
  const char* unrolling = loop.mapping == Mapping::unrolled ? "#pragma unroll\n"
                          : loop.role != Role::reduction    ? ""
                          : takes_over(loop)                ? "#pragma unroll 2\n"
                                                            : "#pragma unroll 1\n";
  const std::string advance =
      loop.step == Affine(1) ? "++" + loop.iterator : fmt::format("{} += {}", loop.iterator, esc::print(loop.step));
  return fmt::format("{0}for ({1} {2} = {3}; {2} < {4}; {5}) {{\n{6}}}\n", unrolling, type_of(loop), loop.iterator,
                     esc::print(loop.lower), esc::print(loop.upper), advance, print(loop.body));
}

std::string StatementPrinter::print(const Declare& declare) const {
  const ArrayDeclaration* array = nest_.find_array(declare.array);
  ESC_CHECK(array != nullptr, "an array of the nest: " + declare.array);
  std::vector<Affine> extents = array->extents;
  if (!array->record.empty()) {
    extents.pop_back();
  }
  const std::string type = array->holds_columns && is_placed(nest_, *array) ? "ColumnOfB" : c_name(array->type);
  std::string text = fmt::format("{} {}", array->record.empty() ? type : array->record, declare.array);
  for (const Affine& extent : extents) {
    text += fmt::format("[{}]", esc::print(extent));
  }
  return text + (declare.zero ? " = {};\n" : ";\n");
}

std::string StatementPrinter::print(const Barrier& barrier) const {
  switch (barrier.scope) {
    case Scope::cluster:
      return "meet_cluster();\n";
    case Scope::block:
      return block_barrier_;
    case Scope::consumer_group:
      return fmt::format(fmt::runtime(consumer_group_barrier_), nest_.consumer_group);
    case Scope::warp:
    case Scope::thread:
      break;
  }
  return "__syncwarp();\n";
}

std::string StatementPrinter::print(const Node& node) {
  if (const auto* statement = std::get_if<Statement>(&node.content)) {
    return print(*statement);
  }
  if (const auto* loop = std::get_if<Loop>(&node.content)) {
    return print(*loop);
  }
  if (const auto* branch = std::get_if<Branch>(&node.content)) {
    if (branch->then.empty()) {
      return fmt::format("if (!({})) {{\n{}}}\n", expressions_.print(branch->condition), print(branch->otherwise));
    }
    const std::string otherwise =
        branch->otherwise.empty() ? "" : fmt::format(" else {{\n{}}}", print(branch->otherwise));
    return fmt::format("if ({}) {{\n{}}}{}\n", expressions_.print(branch->condition), print(branch->then), otherwise);
  }
  if (const auto* barrier = std::get_if<Barrier>(&node.content)) {
    return print(*barrier);
  }
  if (const auto* note = std::get_if<Note>(&node.content)) {
    return "\n// " + note->text + "\n";
  }
  const auto* declare = std::get_if<Declare>(&node.content);
  ESC_CHECK(declare != nullptr, "no column set is left after the data transformation");
  return print(*declare);
}

std::string StatementPrinter::print(const Block& block) {
  std::string text;
  for (const Node& node : block) {
    text += print(node);
  }
  return text;
}

}  // namespace esc
