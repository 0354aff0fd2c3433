// SPDX-License-Identifier: Apache-2.0
#include "generator/support/strict_json.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "generator/support/error.h"
#include "generator/support/plain_text.h"

namespace esc {
namespace {

using nlohmann::json;

/// As deep as no text that is read this way goes; each level takes memory that its one character does not show.
constexpr int most_depth = 1000;

/// An object or an array that has been begun and not ended.
struct Open {
  bool is_array = false;
  std::size_t index = 0;  ///< of an array: of the element that comes
  std::string key;        ///< of an object: the last one
  std::set<std::string> keys;
};

/// "layers[0].bcol".
std::string path_of(const std::vector<Open>& open) {
  std::string path;
  for (const Open& one : open) {
    path += one.is_array ? fmt::format("[{}]", one.index) : (path.empty() ? "" : ".") + plain_text(one.key);
  }
  return path;
}

}  // namespace

json parse_strict_json(std::string_view text, const std::string& file) {
  std::vector<Open> open;
  const auto refuse = [&](const std::string& rule, const char* remedy) {
    const std::string path = path_of(open);
    throw UserError(file.empty() || path.empty() ? file + path : file + ": " + path, rule, remedy);
  };
  // A text with one is cut short wherever it becomes a path or another text of C.
  const auto refuse_nul = [&](const std::string& word) {
    if (word.find('\0') != std::string::npos) {
      refuse("has a NUL in a text", "leave the character out");
    }
  };
  const auto count_element = [&] {
    if (!open.empty()) {
      ++open.back().index;
    }
  };
  const json::parser_callback_t watch = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth > most_depth) {
      throw UserError(file, "is nested too deeply", "leave the brackets out that nothing needs");
    }
    switch (event) {
      case json::parse_event_t::object_start:
      case json::parse_event_t::array_start:
        open.push_back({.is_array = event == json::parse_event_t::array_start, .index = 0, .key = {}, .keys = {}});
        break;
      case json::parse_event_t::object_end:
      case json::parse_event_t::array_end:
        open.pop_back();
        count_element();
        break;
      case json::parse_event_t::value:
        if (parsed.is_string()) {
          refuse_nul(parsed.get_ref<const std::string&>());
        }
        count_element();
        break;
      case json::parse_event_t::key:
        open.back().key = parsed.get<std::string>();
        refuse_nul(open.back().key);
        if (!open.back().keys.insert(open.back().key).second) {
          refuse("is there twice", "leave one of the two out");
        }
        break;
    }
    return true;
  };
  try {
    return json::parse(text, watch);
  } catch (const json::out_of_range&) {
    refuse("is a number that is too large", "give a smaller one");
  }
  return {};
}

std::optional<json> json_in(std::string_view text) {
  try {
    return parse_strict_json(text, "");
  } catch (const json::parse_error&) {
  } catch (const UserError&) {
  }
  return std::nullopt;
}

}  // namespace esc
