// SPDX-License-Identifier: Apache-2.0
#include "generator/support/strict_json.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "generator/support/error.h"
#include "generator/support/plain_text.h"

namespace esc {
namespace {

using nlohmann::json;

/// As deep as no text that is read this way goes; each level takes memory that its one character does not show.
constexpr std::size_t most_depth = 1000;

/// Makes the value of what the parser finds, as the library's own does, but in a time that grows with the text alone:
/// with a callback that one looks through all of an array after each of its objects.
class StrictReader final : public json::json_sax_t {
 public:
  explicit StrictReader(const std::string& file) : file_(file) {}

  json take() && { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(json::number_integer_t value) override { return add(value); }
  bool number_unsigned(json::number_unsigned_t value) override { return add(value); }
  bool number_float(json::number_float_t value, const std::string&) override { return add(value); }
  bool binary(json::binary_t& value) override { return add(std::move(value)); }
  bool string(std::string& value) override {
    refuse_nul(value);
    return add(std::move(value));
  }

  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    check_depth();
    Open& object = open_.back();
    object.key = name;
    refuse_nul(name);
    const auto [place, fresh] = object.value->emplace(name, nullptr);
    if (!fresh) {
      refuse("is there twice", "leave one of the two out");
    }
    object.element = &*place;
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& problem) override {
    if (const auto* const error = dynamic_cast<const json::parse_error*>(&problem)) {
      throw *error;
    }
    refuse("is a number that is too large", "give a smaller one");
  }

 private:
  /// An object or an array that has been begun and not ended.
  struct Open {
    json* value;
    std::string key;          ///< of an object: the last one
    json* element = nullptr;  ///< and what it has there
  };

  /// "layers[0].bcol".
  std::string path() const {
    std::string path;
    for (const Open& one : open_) {
      const std::size_t begun = &one == &open_.back() ? 0 : 1;
      path += one.value->is_array() ? fmt::format("[{}]", one.value->size() - begun)
                                    : (path.empty() ? "" : ".") + plain_text(one.key);
    }
    return path;
  }

  [[noreturn]] void refuse(const std::string& rule, const char* remedy) const {
    const std::string place = path();
    throw UserError(file_.empty() || place.empty() ? file_ + place : file_ + ": " + place, rule, remedy);
  }
  /// A text with one is cut short wherever it becomes a path or another text of C.
  void refuse_nul(const std::string& word) const {
    if (word.find('\0') != std::string::npos) {
      refuse("has a NUL in a text", "leave the character out");
    }
  }
  void check_depth() const {
    if (open_.size() > most_depth) {
      throw UserError(file_, "is nested too deeply", "leave the brackets out that nothing needs");
    }
  }

  /// Where the next value is to be.
  json& place_of_next() {
    check_depth();
    if (open_.empty()) {
      return root_;
    }
    if (open_.back().value->is_array()) {
      return open_.back().value->emplace_back();
    }
    return *open_.back().element;
  }
  template <typename Value>
  bool add(Value&& value) {
    place_of_next() = std::forward<Value>(value);
    return true;
  }
  bool open(json&& empty) {
    json& place = place_of_next();
    place = std::move(empty);
    open_.push_back({&place, {}});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const std::string& file_;
  json root_;
  std::vector<Open> open_;
};

}  // namespace

json parse_strict_json(std::string_view text, const std::string& file) {
  StrictReader reader(file);
  json::sax_parse(text, &reader);
  return std::move(reader).take();
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
