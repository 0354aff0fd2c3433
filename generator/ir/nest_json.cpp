// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/nest_json.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "generator/support/error.h"
#include "generator/support/number_in.h"
#include "generator/support/strict_json.h"

namespace esc {
namespace {

using nlohmann::json;

/// Version of the text; one of another is refused.
constexpr int nest_format = 1;

template <typename Value, std::size_t count>
using Words = std::array<std::pair<Value, const char*>, count>;

constexpr Words<ArrayRole, 8> role_words{{{ArrayRole::sparse, "sparse"},
                                          {ArrayRole::dense, "dense"},
                                          {ArrayRole::output, "output"},
                                          {ArrayRole::operand, "operand"},
                                          {ArrayRole::table, "table"},
                                          {ArrayRole::packed_index, "packed_index"},
                                          {ArrayRole::packed_value, "packed_value"},
                                          {ArrayRole::unknown, "unknown"}}};
constexpr Words<Role, 5> loop_words{{{Role::row, "row"},
                                     {Role::reduction, "reduction"},
                                     {Role::column, "column"},
                                     {Role::group, "group"},
                                     {Role::none, "none"}}};
constexpr Words<ScalarType, 7> type_words{{{ScalarType::f32, "f32"},
                                           {ScalarType::f64, "f64"},
                                           {ScalarType::tf32, "tf32"},
                                           {ScalarType::f16, "f16"},
                                           {ScalarType::bf16, "bf16"},
                                           {ScalarType::i32, "i32"},
                                           {ScalarType::boolean, "boolean"}}};
constexpr Words<Operator, 17> operator_words{{{Operator::add, "add"},
                                              {Operator::subtract, "subtract"},
                                              {Operator::multiply, "multiply"},
                                              {Operator::divide, "divide"},
                                              {Operator::quotient, "quotient"},
                                              {Operator::remainder, "remainder"},
                                              {Operator::minimum, "minimum"},
                                              {Operator::negate, "negate"},
                                              {Operator::less, "less"},
                                              {Operator::at_most, "at_most"},
                                              {Operator::equals, "equals"},
                                              {Operator::differs, "differs"},
                                              {Operator::all, "all"},
                                              {Operator::any, "any"},
                                              {Operator::choose, "choose"},
                                              {Operator::population_count, "population_count"},
                                              {Operator::lowest_set_bit, "lowest_set_bit"}}};

template <typename Value, std::size_t count>
const char* word_of(Value value, const Words<Value, count>& words) {
  for (const auto& [known, word] : words) {
    if (known == value) {
      return word;
    }
  }
  ESC_CHECK(false, "a nest of the front end has such words alone");
}

/// What JSON holds that stands for no nest.
struct NotANest {
  std::string why;
};

template <typename Value, std::size_t count>
Value value_of(const json& word, const Words<Value, count>& words) {
  for (const auto& [value, known] : words) {
    if (word == known) {
      return value;
    }
  }
  throw NotANest{fmt::format("has the unknown word {}", word.dump())};
}

json to_json(const Affine& affine) {
  json result = json::array({affine.constant()});
  for (const Affine::Term& term : affine.terms()) {
    result.push_back({term.name, term.coefficient});
  }
  return result;
}

Affine affine_from(const json& text) {
  Affine affine = text.at(0).get<std::int64_t>();
  for (std::size_t at = 1; at < text.size(); ++at) {
    affine = affine + Affine::of(text[at].at(0).get<std::string>(), text[at].at(1).get<std::int64_t>());
  }
  return affine;
}

json to_json(const Expression& expression);
Expression expression_from(const json& text);

json to_json(const std::vector<Expression>& expressions) {
  json result = json::array();
  for (const Expression& one : expressions) {
    result.push_back(to_json(one));
  }
  return result;
}

std::vector<Expression> expressions_from(const json& text) {
  std::vector<Expression> expressions;
  for (const json& one : text) {
    expressions.push_back(expression_from(one));
  }
  return expressions;
}

json to_json(const Access& access) {
  json subscripts = json::array();
  for (const Subscript& one : access.subscripts) {
    ESC_CHECK(one.offset.empty(), "a nest of the front end loads no offsets");
    subscripts.push_back(to_json(one.affine));
  }
  return {access.array, subscripts};
}

Access access_from(const json& text) {
  Access access{text.at(0), {}};
  for (const json& one : text.at(1)) {
    access.subscripts.push_back({"", affine_from(one)});
  }
  return access;
}

/// Each kind by a key of its own. Numbers are written to the last bit, whatever they are.
json to_json(const Expression& expression) {
  struct Kind {
    json operator()(const Affine& affine) const { return {{"affine", esc::to_json(affine)}}; }
    json operator()(const Name& name) const { return {{"name", name.name}}; }
    json operator()(double number) const { return {{"number", fmt::format("{:a}", number)}}; }
    json operator()(const Access& access) const { return {{"element", esc::to_json(access)}}; }
    json operator()(const Operation& operation) const {
      return {{word_of(operation.op, operator_words), esc::to_json(operation.operands)}};
    }
    json operator()(const Call& call) const { return {{"call", {call.function, esc::to_json(call.arguments)}}}; }
    json operator()(const Convert& convert) const {
      return {{"convert", {word_of(convert.type, type_words), esc::to_json(convert.operand)}}};
    }
    json operator()(const ColumnCount&) const { ESC_CHECK(false, "no step has changed the nest"); }
    json operator()(const ColumnAt&) const { ESC_CHECK(false, "no step has changed the nest"); }
  };
  return std::visit(Kind{}, expression.content);
}

double number_from(const std::string& text) {
  const std::optional<double> number = real_in(text);
  if (!number) {
    throw NotANest{fmt::format("has the number '{}'", text)};
  }
  return *number;
}

Expression expression_from(const json& text) {
  if (!text.is_object() || text.size() != 1) {
    throw NotANest{"has an expression that is none"};
  }
  const std::string& kind = text.begin().key();
  const json& content = text.begin().value();
  if (kind == "affine") {
    return affine_from(content);
  }
  if (kind == "name") {
    return Name{content};
  }
  if (kind == "number") {
    return number_from(content.get<std::string>());
  }
  if (kind == "element") {
    return access_from(content);
  }
  if (kind == "call") {
    return Call{content.at(0), expressions_from(content.at(1))};
  }
  if (kind == "convert") {
    return Convert{value_of(content.at(0), type_words), expressions_from(content.at(1))};
  }
  return Operation{value_of(json(kind), operator_words), expressions_from(content)};
}

json to_json(const Define& define) {
  return {{"type", word_of(define.type, type_words)},
          {"name", define.name},
          {"value", to_json(define.value)},
          {"moves", define.moves}};
}

Define define_from(const json& text) {
  return {value_of(text.at("type"), type_words), text.at("name"), expression_from(text.at("value")), text.at("moves")};
}

json to_json(const Block& block);
Block block_from(const json& text);

json to_json(const Statement& statement) {
  struct Action {
    json operator()(const Define& define) const { return {{"define", esc::to_json(define)}}; }
    json operator()(const Update& update) const {
      return {{"update", {esc::to_json(update.target), esc::to_json(update.value)}}};
    }
    json operator()(const Store& store) const {
      return {{"store", {esc::to_json(store.target), esc::to_json(store.value)}}};
    }
    json operator()(const Copy&) const { ESC_CHECK(false, "no step has changed the nest"); }
    json operator()(const Perform&) const { ESC_CHECK(false, "no step has changed the nest"); }
  };
  json result = std::visit(Action{}, statement.action);
  result["guard"] = to_json(statement.guard);
  return result;
}

Statement statement_from(const json& text) {
  Statement statement{expressions_from(text.at("guard")), {}};
  if (text.contains("define")) {
    statement.action = define_from(text.at("define"));
  } else if (text.contains("update")) {
    statement.action = Update{expression_from(text.at("update").at(0)), expression_from(text.at("update").at(1))};
  } else {
    statement.action = Store{access_from(text.at("store").at(0)), expression_from(text.at("store").at(1))};
  }
  return statement;
}

json to_json(const Block& block) {
  json result = json::array();
  for (const Node& node : block) {
    if (const auto* const loop = std::get_if<Loop>(&node.content)) {
      ESC_CHECK(loop->mapping == Mapping::sequential, "no step has changed the nest");
      result.push_back({{"loop", loop->iterator},
                        {"lower", to_json(loop->lower)},
                        {"upper", to_json(loop->upper)},
                        {"step", to_json(loop->step)},
                        {"role", word_of(loop->role, loop_words)},
                        {"body", to_json(loop->body)}});
    } else {
      const auto* const statement = std::get_if<Statement>(&node.content);
      ESC_CHECK(statement != nullptr, "no step has changed the nest");
      result.push_back(to_json(*statement));
    }
  }
  return result;
}

Block block_from(const json& text) {
  Block block;
  for (const json& node : text) {
    if (node.contains("loop")) {
      block.push_back({Loop{.iterator = node.at("loop"),
                            .lower = affine_from(node.at("lower")),
                            .upper = affine_from(node.at("upper")),
                            .step = affine_from(node.at("step")),
                            .role = value_of(node.at("role"), loop_words),
                            .mapping = Mapping::sequential,
                            .body = block_from(node.at("body"))}});
    } else {
      block.push_back({statement_from(node)});
    }
  }
  return block;
}

json to_json(const ArrayDeclaration& array) {
  json extents = json::array();
  for (const Affine& extent : array.extents) {
    extents.push_back(to_json(extent));
  }
  json result = {{"name", array.name},
                 {"extents", extents},
                 {"role", word_of(array.role, role_words)},
                 {"type", word_of(array.type, type_words)}};
  if (!array.values.empty()) {
    result["values"] = json::array();
    for (const double value : array.values) {
      result["values"].push_back(fmt::format("{:a}", value));
    }
  }
  return result;
}

ArrayDeclaration array_from(const json& text) {
  ArrayDeclaration array{.name = text.at("name"),
                         .extents = {},
                         .role = value_of(text.at("role"), role_words),
                         .type = value_of(text.at("type"), type_words)};
  for (const json& extent : text.at("extents")) {
    array.extents.push_back(affine_from(extent));
  }
  if (text.contains("values")) {
    for (const json& value : text.at("values")) {
      array.values.push_back(number_from(value.get<std::string>()));
    }
  }
  return array;
}

json to_json(const Epilogue& epilogue) {
  json steps = json::array();
  for (const Define& step : epilogue.steps) {
    steps.push_back(to_json(step));
  }
  return {
      {"subscripts", epilogue.subscripts}, {"sum", epilogue.sum}, {"steps", steps}, {"value", to_json(epilogue.value)}};
}

Epilogue epilogue_from(const json& text) {
  Epilogue epilogue{.subscripts = text.at("subscripts"), .sum = text.at("sum"), .steps = {}, .value = {}};
  for (const json& step : text.at("steps")) {
    epilogue.steps.push_back(define_from(step));
  }
  epilogue.value = expression_from(text.at("value"));
  return epilogue;
}

LoopNest nest_from(const json& text, int most_written = 1) {
  if (text.at("nest") != nest_format) {
    throw NotANest{fmt::format("has format {}; this program reads format {}", text.at("nest").dump(), nest_format)};
  }
  LoopNest nest;
  for (const json& array : text.at("arrays")) {
    nest.arrays.push_back(array_from(array));
  }
  nest.body = block_from(text.at("body"));
  if (text.contains("epilogue")) {
    nest.epilogue = epilogue_from(text.at("epilogue"));
  }
  if (text.contains("written")) {
    if (most_written == 0) {
      throw NotANest{"has a nest as written inside of another one"};
    }
    nest.written.push_back(nest_from(text.at("written"), most_written - 1));
  }
  return nest;
}

json to_json(const LoopNest& nest) {
  json arrays = json::array();
  for (const ArrayDeclaration& array : nest.arrays) {
    arrays.push_back(to_json(array));
  }
  json text{{"nest", nest_format}, {"arrays", arrays}, {"body", to_json(nest.body)}};
  if (nest.epilogue) {
    text["epilogue"] = to_json(*nest.epilogue);
  }
  if (!nest.written.empty()) {
    text["written"] = to_json(nest.written.front());
  }
  return text;
}

}  // namespace

std::string nest_json(const LoopNest& nest) {
  const json text = to_json(nest);
  ESC_CHECK(nest_from(text) == nest, "no step has changed the nest");
  return text.dump();
}

LoopNest parse_nest_json(const std::string& text, const std::string& place) {
  std::string why = "is no loop nest as escgen nest prints it";
  try {
    return nest_from(parse_strict_json(text, place));
  } catch (const json::exception&) {
  } catch (const NotANest& problem) {
    why = problem.why;
  }
  throw UserError(place, why, "print it again with escgen nest");
}

}  // namespace esc
