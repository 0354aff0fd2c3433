// SPDX-License-Identifier: Apache-2.0
// The schema of specs says what their reader takes: the same keys, and of each the same values.

#include <gtest/gtest.h>

#include <functional>

#include "generator/commands/model_spec.h"
#include "generator/commands/spec_form.h"
#include "tests/support/json_schema.h"

namespace esc {
namespace {

using nlohmann::json;

bool is_read(const json& spec) {
  try {
    return parse_model_spec(spec.dump(), "spec.json") || !parse_spec(spec.dump(), "spec.json").empty();
  } catch (const UserError&) {
    return false;
  }
}

bool is_in_schema(const json& spec) {
  static const json schema = spec_schema();
  return is_valid(spec, schema);
}

/// A form with the smallest spec that has an object of it, and where that is.
struct Place {
  std::string name;
  const SpecForm& form;
  json spec;
  json::json_pointer object;
};

std::vector<Place> places() {
  const json layers{{"layers", {{{"matrix", "a.npy"}, {"bcol", 8}}}}};
  const json model{{"model", "a.safetensors"}, {"bcol", 8}};
  json with_exception = model;
  with_exception["exceptions"] = {{{"tensor", "*"}}};
  return {{"layers", layers_form(), layers, json::json_pointer("")},
          {"layer", layer_form(), layers, json::json_pointer("/layers/0")},
          {"model", model_form(), model, json::json_pointer("")},
          {"exception", exception_form(), with_exception, json::json_pointer("/exceptions/0")}};
}

/// What a text must be that says something.
json text_for(const std::string& key) {
  const std::map<std::string, std::string> texts{
      {"schedule", "auto"}, {"layout", "nk"}, {"dtype", "f16"}, {"gpu", "h200"}, {"arch", "sm_90"}};
  return texts.contains(key) ? texts.at(key) : "a";
}

json usual_value(const SpecKey& key) {
  switch (key.value) {
    case SpecValue::text:
      return text_for(key.name);
    case SpecValue::texts:
      return json::array({text_for(key.name)});
    case SpecValue::bcols:
      return {1, 16};
    case SpecValue::token_counts:
      return {"1:10", 16};
    case SpecValue::seed:
      return 7;
    case SpecValue::sizes:
      return {{"stride", 2}};
    case SpecValue::share:
      return 0.5;
    case SpecValue::limit:
      return "62%";
    case SpecValue::flag:
      return true;
    case SpecValue::layers:
      return {{{"matrix", "b.npy"}, {"bcol", 4}}};
    case SpecValue::exceptions:
      break;
  }
  return {{{"tensor", "a"}, {"bcol", 4}}};
}

TEST(SpecSchema, EachKeyOfTheReaderIsInTheSchema) {
  for (const auto& [name, form, smallest, object] : places()) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(is_read(smallest));
    EXPECT_TRUE(is_in_schema(smallest));
    for (const SpecKey& key : form) {
      SCOPED_TRACE(key.name);
      json spec = smallest;
      spec[object][key.name] = usual_value(key);
      EXPECT_TRUE(is_read(spec));
      EXPECT_TRUE(is_in_schema(spec));
      spec[object].erase(key.name);
      EXPECT_EQ(is_read(spec), !key.is_required);
      EXPECT_EQ(is_in_schema(spec), !key.is_required);
    }
  }
}

TEST(SpecSchema, HasNoKeyThatTheReaderRefuses) {
  const json schema = spec_schema();
  const json layer = schema["oneOf"][0]["properties"]["layers"]["items"];
  const json model = schema["oneOf"][1];
  for (const auto& [object, form] :
       std::vector<std::pair<json, SpecForm>>{{schema["oneOf"][0], layers_form()},
                                              {layer, layer_form()},
                                              {model, model_form()},
                                              {model["properties"]["exceptions"]["items"], exception_form()}}) {
    EXPECT_EQ(object["properties"].size(), form.size());
  }
  for (const Place& place : places()) {
    json spec = place.spec;
    spec[place.object]["speed"] = 9;
    EXPECT_FALSE(is_read(spec)) << place.name;
    EXPECT_FALSE(is_in_schema(spec)) << place.name;
  }
  EXPECT_FALSE(is_in_schema({{"layers", places()[0].spec["layers"]}, {"model", "a.safetensors"}, {"bcol", 8}}))
      << "one of the two";
}

TEST(SpecSchema, RefusesTheValuesThatTheReaderRefuses) {
  const std::vector<json> odd{nullptr,
                              true,
                              0,
                              3,
                              -1,
                              0.5,
                              7.5,
                              UINT64_MAX,
                              json::array(),
                              {3},
                              {3, 3},
                              {"3:2", 4},
                              {0},
                              {true},
                              {nullptr},
                              json::object(),
                              {{"a", 3}},
                              {{"a", -1}},
                              {{"a", "b"}},
                              {{"a", UINT64_MAX}}};
  for (const auto& [name, form, smallest, object] : places()) {
    for (const SpecKey& key : form) {
      for (const json& value : odd) {
        json spec = smallest;
        spec[object][key.name] = value;
        EXPECT_EQ(is_read(spec), is_in_schema(spec)) << spec;
      }
    }
  }
}

TEST(SpecSchema, TakesTheWeightsThatTheReaderTakes) {
  for (const char* const text : {"3", "3:2", "3:0.5", "3:.5", "3:2.", "", ":", "3:", ":2", "0:2", "3:-2", "3:1e3",
                                 "3:.", "3:inf", "3:2:1", "3,4", " 3"}) {
    for (const json& bcol : {json(text), json::array({text, 4})}) {
      const json spec{{"model", "a.safetensors"}, {"bcol", bcol}};
      EXPECT_EQ(is_read(spec), is_in_schema(spec)) << spec;
    }
  }
}

}  // namespace
}  // namespace esc
