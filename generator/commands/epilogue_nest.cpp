// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/epilogue_nest.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "generator/emit/templates.h"
#include "generator/emit/text_template.h"
#include "generator/schedule/settings.h"
#include "generator/support/closest_word.h"
#include "generator/support/error.h"
#include "generator/support/identifier.h"
#include "generator/support/replace_all.h"

namespace esc {
namespace {

const EpiloguePart& part_of(std::string_view name, const std::string& parts) {
  const auto found = std::ranges::find(epilogue_parts(), name, &EpiloguePart::name);
  if (found == epilogue_parts().end()) {
    std::vector<std::string> names;
    for (const EpiloguePart& part : epilogue_parts()) {
      names.emplace_back(part.name);
    }
    throw UserError("--epilogue " + parts, fmt::format("there is no '{}'", name),
                    fmt::format("{}put together with + what there is: {}; or write a nest of your own for --kernel",
                                did_you_mean(name, names), epilogue_names()));
  }
  return *found;
}

/// The expression with a name for its x.
std::string with_x(std::string_view expression, const std::string& name) {
  std::string result;
  for (std::size_t at = 0; at < expression.size(); ++at) {
    const bool alone = expression[at] == 'x' && (at == 0 || !is_of_identifier(expression[at - 1])) &&
                       (at + 1 == expression.size() || !is_of_identifier(expression[at + 1]));
    result += alone ? name : std::string(1, expression[at]);
  }
  return result;
}

}  // namespace

const std::vector<EpiloguePart>& epilogue_parts() {
  // Constants have all digits of a double, for the nest may be taken in that type.
  static const std::vector<EpiloguePart> parts{
      {"bias", "const float bias[M]", "x + bias[i]", "adds a number to each row of C, as a linear layer's bias"},
      {"bias_column", "const float bias_column[N]", "x + bias_column[j]", "adds a number to each column of C"},
      {"relu", "", "x < 0 ? 0 : x", "max(x, 0)"},
      {"gelu", "", "0.5f * x * (1 + erff(0.7071067811865476 * x))", "GELU by the error function"},
      {"gelu_tanh", "", "0.5f * x * (1 + tanhf(0.7978845608028654 * (x + 0.044715 * x * x * x)))",
       "GELU by its tanh approximation"},
      {"silu", "", "x / (1 + expf(-x))", "x sigmoid(x)"},
      {"clamp", "float low, float high", "fminf(fmaxf(x, low), high)", "keeps x between two numbers"},
      {"residual", "const float residual[M][N]", "x + residual[i][j]", "adds a matrix of C's shape"},
      {"scale", "float scale", "scale * x", "multiplies by a number"},
      {"zero_point", "float zero_point", "x + zero_point", "adds a number to all of C"}};
  return parts;
}

std::string epilogue_names() {
  std::string names;
  for (const EpiloguePart& part : epilogue_parts()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", part.name);
  }
  return names;
}

std::string nest_with_epilogue(const std::string& parts, NestLayout layout) {
  const auto subscripts = [&](const char* row, const char* column) {
    return layout == NestLayout::kn ? fmt::format("[{}][{}]", row, column) : fmt::format("[{1}][{0}]", row, column);
  };
  const auto in_layout = [&](std::string text) {
    text = replace_all(std::move(text), "[M][N]", subscripts("M", "N"));
    return replace_all(std::move(text), "[i][j]", subscripts("i", "j"));
  };
  std::string parameters;
  std::string steps;
  std::string value = "sum";
  std::vector<std::string_view> used;
  for (const std::string_view name : split(parts, '+')) {
    const EpiloguePart& part = part_of(name, parts);
    if (std::ranges::find(used, name) != used.end()) {
      throw UserError("--epilogue " + parts, fmt::format("has '{}' twice", name),
                      "name each part once, or write a nest of your own for --kernel");
    }
    used.push_back(name);
    parameters += *part.parameters == '\0' ? "" : ", " + in_layout(part.parameters);
    steps += fmt::format("      const float x{} = {};\n", used.size(), with_x(in_layout(part.value), value));
    value = fmt::format("x{}", used.size());
  }
  return fill(epilogue_template,
              {{"EPILOGUE", parts},
               {"SHAPES", layout == NestLayout::kn ? "B (K x N) and C (M x N)" : "B (N x K) and C (N x M)"},
               {"B", "B" + subscripts("K", "N")},
               {"C", "C" + subscripts("M", "N")},
               {"PARAMETERS", parameters},
               {"FACTOR", "B" + subscripts("k", "j")},
               {"STEPS", steps},
               {"ELEMENT", "C" + subscripts("i", "j")},
               {"RESULT", value}});
}

}  // namespace esc
