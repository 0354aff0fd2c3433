// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/spec_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "generator/matrix/typed_elements.h"
#include "generator/support/error.h"
#include "generator/support/limits.h"

namespace esc {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

bool is_text(const json& value) { return value.is_string(); }
bool is_whole(const json& value) { return value.is_number_integer(); }

/// Whether it is one of these or a list of them.
bool is_one_or_list(const json& value, bool (*is_one)(const json&)) {
  return value.is_array() ? std::ranges::all_of(value, is_one) : is_one(value);
}

bool is_within(const json& value, double above, double most) {
  return value.is_number() && value.get<double>() > above && value.get<double>() <= most;
}

/// A number of columns, or a text that `parse_token_count` reads.
bool is_token_count(const json& value) { return is_whole(value) || is_text(value); }

/// The schema of one or several.
ordered_json one_or_list(const ordered_json& one) {
  return {{"anyOf", {one, {{"type", "array"}, {"items", one}, {"minItems", 1}}}}};
}

/// The same where no two are alike.
ordered_json different(const ordered_json& one) {
  ordered_json schema = one_or_list(one);
  schema["anyOf"][1]["uniqueItems"] = true;
  return schema;
}

ordered_json columns_of_b() { return {{"type", "integer"}, {"minimum", 1}, {"maximum", most_columns_of_b}}; }

ordered_json schema_of(const SpecForm& form);

ordered_json list_of(const SpecForm& form, int least) {
  return {{"type", "array"}, {"items", schema_of(form)}, {"minItems", least}};
}

ordered_json schema_of(SpecValue value) {
  switch (value) {
    case SpecValue::text:
      return {{"type", "string"}};
    case SpecValue::texts:
      return one_or_list({{"type", "string"}});
    case SpecValue::bcols:
      return different(columns_of_b());
    case SpecValue::token_counts:
      return different(
          {{"anyOf",
            {columns_of_b(), {{"type", "string"}, {"pattern", "^[1-9][0-9]*(:([0-9]+([.][0-9]*)?|[.][0-9]+))?$"}}}}});
    case SpecValue::seed:
      return {{"type", "integer"}, {"minimum", 0}, {"maximum", std::numeric_limits<std::uint64_t>::max()}};
    case SpecValue::sizes:
      return {{"type", "object"},
              {"additionalProperties",
               {{"type", "integer"}, {"minimum", 0}, {"maximum", std::numeric_limits<std::int32_t>::max()}}}};
    case SpecValue::share:
      return {{"type", "number"}, {"minimum", 0}, {"maximum", 1}};
    case SpecValue::limit:
      return {{"anyOf",
               {{{"type", "number"}, {"exclusiveMinimum", 0}},
                {{"type", "string"}, {"pattern", "^[0-9]+([.][0-9]+)?%$"}}}}};
    case SpecValue::flag:
      return {{"type", "boolean"}};
    case SpecValue::layers:
      return list_of(layer_form(), 1);
    case SpecValue::exceptions:
      break;
  }
  return list_of(exception_form(), 0);
}

ordered_json schema_of(const SpecForm& form) {
  ordered_json properties;
  ordered_json required = ordered_json::array();
  for (const SpecKey& key : form) {
    properties[key.name] = {{"description", key.meaning}};
    properties[key.name].update(schema_of(key.value));
    if (key.is_required) {
      required.push_back(key.name);
    }
  }
  return {{"type", "object"}, {"properties", properties}, {"required", required}, {"additionalProperties", false}};
}

/// What is wrong with a value that is none of these.
std::string rule_of(SpecValue value) {
  switch (value) {
    case SpecValue::text:
      return "is not a text";
    case SpecValue::texts:
      return "is neither a text nor a list of them";
    case SpecValue::bcols:
      return "is neither a whole number nor a list of them";
    case SpecValue::token_counts:
      return "is neither a whole number nor a text with its weight, as in \"1:10\", nor a list of them";
    case SpecValue::seed:
      return "is not a whole number from 0 to 2^64 - 1";
    case SpecValue::sizes:
      return "is not an object of names and numbers";
    case SpecValue::share:
      return "is not a number from 0 to 1";
    case SpecValue::limit:
      return "is neither a number above 0 nor a percentage";
    case SpecValue::flag:
      return "is neither true nor false";
    case SpecValue::layers:
    case SpecValue::exceptions:
      break;
  }
  return "is not a list of objects";
}

bool is_value(SpecValue kind, const json& value) {
  switch (kind) {
    case SpecValue::text:
      return is_text(value);
    case SpecValue::texts:
      return is_one_or_list(value, is_text);
    case SpecValue::bcols:
      return is_one_or_list(value, is_whole);
    case SpecValue::token_counts:
      return is_one_or_list(value, is_token_count);
    case SpecValue::seed:
      return value.is_number_unsigned();
    case SpecValue::sizes:
      return value.is_object();
    case SpecValue::share:
      return value == 0 || is_within(value, 0, 1);
    case SpecValue::limit:
      return is_text(value) || is_within(value, 0, std::numeric_limits<double>::max());
    case SpecValue::flag:
      return value.is_boolean();
    case SpecValue::layers:
    case SpecValue::exceptions:
      break;
  }
  return value.is_array();
}

}  // namespace

const SpecForm& layers_form() {
  static const SpecForm form{
      {"layers", SpecValue::layers, "Layers, each with a bundle for each number of columns", true}};
  return form;
}

const SpecForm& layer_form() {
  static const SpecForm form{
      {"matrix", SpecValue::text, "File of the matrix, or FILE:TENSOR of a model; looked for beside the spec", true},
      {"bcol", SpecValue::bcols,
       "Columns of B that kernels are made for; of several each gets a bundle, NAME_n32, NAME_n64", true},
      {"name", SpecValue::text, "Name of the bundle and prefix of its functions; otherwise that of the file"},
      {"schedule", SpecValue::text, "auto, published, bitmap, a schedule, or directives"},
      {"kernel", SpecValue::text, "C file with the input loop nest, looked for beside the spec"},
      {"epilogue", SpecValue::text, "What becomes of each sum before it is stored, as in bias+relu"},
      {"layout", SpecValue::text, "kn or nk: how B and C of the shipped product lie"},
      {"sizes", SpecValue::sizes, "Integer parameters of the loop nest that have this number in every call"},
      {"dtype", SpecValue::text, "Element type: " + kernel_element_words()},
      {"seed", SpecValue::seed, "Seed of the values of pattern-only files"},
      {"gpu", SpecValue::text, "GPU to build for, as in h200"},
      {"arch", SpecValue::text, "CUDA architecture to build for, as in sm_90"}};
  return form;
}

const SpecForm& model_form() {
  static const SpecForm form{
      {"model", SpecValue::text, "File or folder of the model, looked for beside the spec", true},
      {"bcol", SpecValue::token_counts,
       "Columns of B that each layer gets a kernel for; with how often they occur as in \"1:10\", by default 1", true},
      {"name", SpecValue::text, "Name of the bundle and prefix of its functions; otherwise that of the model"},
      {"tensors", SpecValue::texts, "Only tensors whose names are like one of these, as in *.mlp.*"},
      {"min_sparsity", SpecValue::share, "Least share of zeros of a layer that gets kernels; otherwise 0.45"},
      {"schedule", SpecValue::text, "auto, published, bitmap, a schedule, or directives"},
      {"database", SpecValue::text,
       "What was measured, as --database takes it: a file or a folder, looked for beside the spec"},
      {"max_packed", SpecValue::limit,
       "Most bytes of a packed matrix: over those as CSR, or, as in \"62%\", over the dense ones"},
      {"epilogue", SpecValue::text, "What becomes of each sum before it is stored, as in bias"},
      {"layout", SpecValue::text, "kn, or nk as in PyTorch: how B and C lie"},
      {"dtype", SpecValue::text, "Element type: " + kernel_element_words()},
      {"gpu", SpecValue::texts, "GPUs to build for, as in h200; each compute capability has schedules of its own"},
      {"arch", SpecValue::texts, "CUDA architectures to build for, as in sm_90"},
      {"allow_nonfinite", SpecValue::flag,
       "Whether NaN and infinity among the weights are accepted; otherwise they are not"},
      {"all", SpecValue::flag,
       "Whether layers that are expected to be larger or slower than dense get kernels, too; otherwise they do not"},
      {"packed", SpecValue::flag, "Whether the packed matrices are written; otherwise they are"},
      {"exceptions", SpecValue::exceptions,
       "What holds for some layers alone; of several for a layer the first one counts"}};
  return form;
}

const SpecForm& exception_form() {
  static const SpecForm form{
      {"tensor", SpecValue::text, "The layers whose names are like this, as in *.down_proj.*", true},
      {"bcol", SpecValue::bcols, "Their numbers of columns, in place of the model's"},
      {"schedule", SpecValue::text, "Their schedule, in place of the model's"},
      {"skip", SpecValue::flag, "Whether they are left out"}};
  return form;
}

std::string why_not_value(const SpecKey& key, const json& value) {
  if (!is_value(key.value, value)) {
    return fmt::format("\"{}\" {}", key.name, rule_of(key.value));
  }
  const bool may_be_empty = key.value == SpecValue::sizes || key.value == SpecValue::exceptions;
  return value.is_array() && value.empty() && !may_be_empty ? fmt::format("\"{}\" is an empty list", key.name) : "";
}

ordered_json spec_schema() {
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "Spec of escgen generate --spec"},
          {"oneOf", {schema_of(layers_form()), schema_of(model_form())}}};
}

}  // namespace esc
