// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace esc {

/// What the value of a key in a spec may be.
enum class SpecValue {
  text,
  texts,         ///< a text or a list of them
  bcols,         ///< a whole number or a list of them
  token_counts,  ///< the same, or texts with weights, as in "1:10"
  seed,          ///< a whole number of 64 bits from 0 on
  sizes,         ///< an object of names and whole numbers
  share,         ///< a number from 0 to 1
  limit,         ///< a number above 0, or a text with a percentage
  flag,          ///< true or false
  layers,        ///< a list of objects of the layer's form
  exceptions,    ///< a list of objects of the exception's form
};

/// A key that an object of a spec may have. Reader and schema go by the same rows.
struct SpecKey {
  std::string name;
  SpecValue value = SpecValue::text;
  std::string meaning;
  bool is_required = false;
};

/// The keys of an object of a spec. Other keys are refused.
using SpecForm = std::vector<SpecKey>;

/// A spec of layers, each with bundles of its own: {"layers": [...]}.
const SpecForm& layers_form();
/// One of its layers.
const SpecForm& layer_form();
/// A spec of a model, with one bundle of its layers.
const SpecForm& model_form();
/// What holds for some of a model's layers alone.
const SpecForm& exception_form();

/// Why the key cannot have this value, as in "\"matrix\" is not a text"; empty where it can. Of the objects in a list
/// nothing is said.
std::string why_not_value(const SpecKey& key, const nlohmann::json& value);

/// The schema of both forms, for editors and for programs that write specs (JSON Schema, draft 2020-12).
nlohmann::ordered_json spec_schema();

}  // namespace esc
