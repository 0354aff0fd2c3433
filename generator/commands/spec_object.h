// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "generator/commands/spec_form.h"
#include "generator/commands/token_counts.h"
#include "generator/support/error.h"

namespace esc {

/// What a user is told who has no spec.
inline constexpr const char* spec_example =
    "write {\"layers\": [{\"matrix\": \"a.npy\", \"bcol\": 64}]}, or {\"model\": \"a.safetensors\", \"bcol\": [1, 16]}";

/// The value in a spec's text. Throws UserError for what is not JSON.
nlohmann::json spec_in(const std::string& text, const std::string& file);

/// An object of a spec, which has the keys of its form and values that these may have. Messages say where it is.
class SpecObject {
 public:
  /// Throws UserError for anything else. The object stays the caller's.
  SpecObject(std::string place, const nlohmann::json& object, const SpecForm& form);

  const std::string& place() const { return place_; }
  bool has(const std::string& key) const { return object_.contains(key); }
  const nlohmann::json& list(const std::string& key) const { return object_.at(key); }

  /// The value of a key; `otherwise` where it is not there.
  std::string text(const std::string& key, const std::string& otherwise = "") const;
  bool flag(const std::string& key, bool otherwise) const;
  /// The values of a key that is a text or a list of them; none where it is not there.
  std::vector<std::string> texts(const std::string& key) const;
  /// The value of a key that is there.
  double number(const std::string& key) const { return object_.at(key); }
  std::uint64_t seed(const std::string& key) const { return object_.at(key); }
  std::vector<std::int64_t> bcols(const std::string& key) const;
  std::vector<TokenCount> token_counts(const std::string& key) const;
  /// A number beyond 64 bits is kept as one that is out of range.
  static std::int64_t whole_number(const nlohmann::json& number);

  [[noreturn]] void refuse(const std::string& rule) const;

  /// What `read` gives. What it throws as for an option on the command line is thrown with this place before it.
  template <typename Read>
  auto here(const Read& read) const {
    try {
      return read();
    } catch (const UserError& problem) {
      if (problem.place() == place_) {
        throw;
      }
      throw UserError(place_, problem.place() + " " + problem.rule(), problem.remedy());
    }
  }

 private:
  std::string place_;
  const nlohmann::json& object_;
  const SpecForm& form_;
};

}  // namespace esc
