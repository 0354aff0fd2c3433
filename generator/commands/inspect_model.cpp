// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/inspect_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "generator/model/layer_file.h"
#include "generator/model/survey.h"
#include "generator/support/json_result.h"
#include "generator/support/plain_text.h"

namespace esc {
namespace {

/// A weight, and what was found of its values where it is a matrix.
struct Listed {
  const Weight* weight = nullptr;
  std::optional<WeightSurvey> survey;

  double elements() const { return static_cast<double>(weight->rows()) * static_cast<double>(weight->columns()); }
  double sparsity() const { return 1 - static_cast<double>(survey->nonzeros) / elements(); }
  double mean_row() const { return static_cast<double>(survey->nonzeros) / static_cast<double>(weight->rows()); }
};

std::vector<Listed> list_weights(const Model& model, const Console& console) {
  std::vector<Listed> listed;
  std::vector<const Weight*> matrices;
  for (const Weight& weight : model.weights) {
    listed.push_back({.weight = &weight, .survey = {}});
    if (why_no_matrix(weight).empty()) {
      matrices.push_back(&weight);
    }
  }
  StageProgress progress(console.terminal());
  std::vector<WeightSurvey> surveys = survey_weights(matrices, progress);
  progress.finish();
  auto next = surveys.begin();
  for (Listed& one : listed) {
    if (why_no_matrix(*one.weight).empty()) {
      one.survey = std::move(*next++);
    }
  }
  return listed;
}

nlohmann::json to_json(const Listed& one) {
  nlohmann::json result{{"name", one.weight->name},
                        {"shape", one.weight->shape},
                        {"type", one.weight->type->name},
                        {"form", name_of(one.weight->form)}};
  set_renamed(result, "stored_bytes", "bytes", one.weight->stored_bytes());
  if (one.weight->expert) {
    const Expert& expert = *one.weight->expert;
    result["expert"] = {{"number", expert.number}, {"of", expert.count}, {"transposed", expert.is_transposed}};
  }
  if (!one.survey) {
    result["no_matrix"] = why_no_matrix(*one.weight);
    return result;
  }
  result.update(
      {{"rows", one.weight->rows()},
       {"columns", one.weight->columns()},
       {"nonzeros", one.survey->nonzeros},
       {"sparsity", one.sparsity()},
       {"row_lengths", {{"min", one.survey->shortest_row}, {"mean", one.mean_row()}, {"max", one.survey->longest_row}}},
       {"nonfinite", one.survey->nonfinite},
       {"pattern_sha256", one.survey->fingerprint.pattern},
       {"values_sha256", one.survey->fingerprint.values}});
  return result;
}

/// "F16", "F16 masked", "F16 expert" or "F16 expert transposed".
std::string type_text(const Weight& weight) {
  return fmt::format(
      "{}{}{}{}", weight.type->name, weight.form == WeightForm::plain ? "" : fmt::format(" {}", name_of(weight.form)),
      weight.expert ? " expert" : "", weight.expert && weight.expert->is_transposed ? " transposed" : "");
}

std::string row_text(const WeightSurvey& survey, double mean) {
  return fmt::format("{}/{:.1f}/{}", survey.shortest_row, mean, survey.longest_row);
}

void print_table(const std::vector<Listed>& listed) {
  std::size_t name_width = 6;
  std::size_t shape_width = 5;
  std::size_t type_width = 4;
  std::size_t row_width = 16;
  for (const Listed& one : listed) {
    name_width = std::max(name_width, plain_text(one.weight->name).size());
    shape_width = std::max(shape_width, shape_text(one.weight->shape).size());
    type_width = std::max(type_width, type_text(*one.weight).size());
    row_width = std::max(row_width, one.survey ? row_text(*one.survey, one.mean_row()).size() : 0);
  }
  fmt::print("{:<{}}  {:<{}}  {:<{}}  {:>7}  {:>{}}  {}\n", "tensor", name_width, "shape", shape_width, "type",
             type_width, "% zeros", "row min/mean/max", row_width, "pattern");
  for (const Listed& one : listed) {
    fmt::print("{:<{}}  {:<{}}  {:<{}}", one.weight->name, name_width, shape_text(one.weight->shape), shape_width,
               type_text(*one.weight), type_width);
    if (one.survey) {
      fmt::print("  {:>7.2f}  {:>{}}  {}{}", 100 * one.sparsity(), row_text(*one.survey, one.mean_row()), row_width,
                 one.survey->fingerprint.pattern.substr(0, 16),
                 one.survey->nonfinite > 0 ? fmt::format("  {} values are not finite", one.survey->nonfinite) : "");
    } else {
      fmt::print("  {}", why_no_matrix(*one.weight));
    }
    fmt::print("\n");
  }
}

/// Of the matrices together.
void print_sums(const std::vector<Listed>& listed) {
  double elements = 0;
  double nonzeros = 0;
  std::size_t matrices = 0;
  for (const Listed& one : listed) {
    if (one.survey) {
      ++matrices;
      elements += one.elements();
      nonzeros += static_cast<double>(one.survey->nonzeros);
    }
  }
  fmt::print("{} tensors, {} matrices{}\n", listed.size(), matrices,
             matrices > 0 ? fmt::format(" with {:.2f} % zeros", 100 * (1 - nonzeros / elements)) : "");
}

}  // namespace

std::optional<Model> listed_model(const std::string& name) {
  const LayerFile layer = parse_layer_file(name);
  if (!layer.tensor.empty() || !is_model(layer.path)) {
    return std::nullopt;
  }
  Model model = open_model(layer.path);
  if (model.weights.size() == 1 && is_scipy(model.weights.front().form)) {
    return std::nullopt;
  }
  return model;
}

std::string file_of_model(const std::string& model) {
  const std::filesystem::path path(model);
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) {
    return model;
  }
  const std::filesystem::path index = path / "model.safetensors.index.json";
  return (std::filesystem::exists(index, ignored) ? index : path / "model.safetensors").string();
}

ExitStatus inspect_model(const Model& model, bool as_json, const Console& console) {
  const std::vector<Listed> listed = list_weights(model, console);
  if (!as_json) {
    print_table(listed);
    print_sums(listed);
    return ExitStatus::done;
  }
  nlohmann::json tensors = nlohmann::json::array();
  for (const Listed& one : listed) {
    tensors.push_back(to_json(one));
  }
  fmt::print("{}", json_result("model", "done", {{"model", model.name}, {"tensors", tensors}}));
  return ExitStatus::done;
}

}  // namespace esc
