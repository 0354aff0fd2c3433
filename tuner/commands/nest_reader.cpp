// SPDX-License-Identifier: Apache-2.0
#include "tuner/commands/nest_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "generator/ir/linear_nk_nest.h"
#include "generator/ir/nest_in_type.h"
#include "generator/ir/nest_json.h"
#include "generator/model/layer_file.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/process.h"
#include "generator/support/program_beside.h"

namespace esc {
namespace {

/// The words by which escgen nest prints it, all but the weights.
std::vector<std::string> words_of(const NestSource& source, std::optional<ScalarType> element) {
  std::vector<std::string> words{"nest"};
  const auto add = [&](const char* option, const std::string& value) { words.insert(words.end(), {option, value}); };
  if (!source.file.empty()) {
    add("--kernel", source.file);
  }
  if (!source.epilogue.empty()) {
    add("--epilogue", source.epilogue);
  }
  if (source.layout) {
    add("--layout", name_of(*source.layout));
  }
  if (element) {
    add("--dtype", name_of(*element));
  }
  for (const auto& [name, value] : source.sizes.named) {
    add("--size", fmt::format("{}={}", name, value));
  }
  return words;
}

/// What escgen, which reads C, prints.
LoopNest ask_escgen(const std::vector<std::string>& question) {
  std::vector<std::string> command{program_beside_this("escgen").string()};
  command.insert(command.end(), question.begin(), question.end());
  const ProcessResult answer = run_process(command, {.errors_apart = true});
  if (answer.status != 0) {
    constexpr std::string_view prefix = "escgen: ";
    std::string why = answer.errors.substr(0, answer.errors.find('\n'));
    why = why.starts_with(prefix) ? why.substr(prefix.size())
                                  : "escgen nest ends with status " + std::to_string(answer.status);
    const bool is_of_input = answer.status == static_cast<int>(ExitStatus::bad_input);
    throw UserError("", why, {}, is_of_input ? ExitStatus::bad_input : ExitStatus::missing_tool);
  }
  return parse_nest_json(answer.output, "escgen nest");
}

LoopNest read_nest(const NestSource& source, const std::vector<std::string>& question,
                   std::optional<ScalarType> element) {
  if (source.file.ends_with(".json")) {
    if (source.layout || !source.epilogue.empty() || !source.sizes.named.empty()) {
      throw UserError(source.file, "is a nest that has its layout, its epilogue and its sizes",
                      "leave the other options out");
    }
    const LoopNest nest = parse_nest_json(read_file(source.file), source.file);
    if (const std::optional<LoopNest> typed = written_for(nest, element.value_or(nest.element()))) {
      return *typed;
    }
    throw UserError(fmt::format("--dtype {}", name_of(*element)),
                    fmt::format("is not what {} has: {}", source.file, name_of(nest.element())),
                    "leave --dtype out, or print the nest in that type: escgen nest --dtype");
  }
  if (source.file.empty() && source.epilogue.empty() && source.sizes.named.empty()) {
    return in_type(source.layout == NestLayout::nk ? linear_nk_nest() : spmm_nest(), element.value_or(ScalarType::f32));
  }
  return ask_escgen(question);
}

}  // namespace

const tuning::TunedNest& NestReader::read(const NestSource& source, const std::string& matrix,
                                          std::optional<ScalarType> element) {
  std::vector<std::string> question = words_of(source, element);
  std::vector<std::string> key = question;
  // Layers whose weights have four dimensions have sizes of their own.
  const std::vector<std::int64_t> shape = source.file.empty() ? std::vector<std::int64_t>{} : read_layer_shape(matrix);
  if (!shape.empty()) {
    std::ranges::transform(shape, std::back_inserter(key), [](std::int64_t extent) { return std::to_string(extent); });
    question.insert(question.end(), {"--weights", matrix});
  }
  const auto found = known_.find(key);
  return found != known_.end()
             ? found->second
             : known_.emplace(key, tuning::tuned_nest(read_nest(source, question, element))).first->second;
}

}  // namespace esc
