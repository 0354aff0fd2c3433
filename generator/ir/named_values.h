// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace esc {

/// A name to be looked for, with what is compared first: hardly two names have the same digest.
class SoughtName {
 public:
  explicit SoughtName(std::string_view name) : name_(name), digest_(digest_of(name)) {}

  std::uint64_t digest() const { return digest_; }
  std::string_view name() const { return name_; }
  bool is(std::string_view other) const {
    const std::size_t size = name_.size();
    if (other.size() != size) {
      return false;
    }
    return size > 16   ? other == name_
           : size >= 8 ? has_words_of<std::uint64_t>(other)
           : size >= 4 ? has_words_of<std::uint32_t>(other)
                       : has_bytes_of(other);
  }

 private:
  template <class Word = std::uint64_t>
  static std::uint64_t word(std::string_view name, std::size_t place) {
    Word word;
    std::memcpy(&word, name.data() + place, sizeof(word));
    return word;
  }

  /// Which together are all of a name of one to two words.
  template <class Word>
  bool has_words_of(std::string_view other) const {
    const std::size_t last = name_.size() - sizeof(Word);
    return word<Word>(other, 0) == word<Word>(name_, 0) && word<Word>(other, last) == word<Word>(name_, last);
  }

  /// Which are all of a name of up to three.
  bool has_bytes_of(std::string_view other) const {
    return name_.empty() || (other.front() == name_.front() && other.back() == name_.back() &&
                             other[name_.size() / 2] == name_[name_.size() / 2]);
  }

  /// Of the first and the last bytes, which overlap in a short name.
  static std::uint64_t digest_of(std::string_view name) {
    const std::size_t size = name.size();
    const auto mixed = [size](std::uint64_t front, std::uint64_t back) {
      return (front * 0x9e3779b97f4a7c15u ^ back) * 0xbf58476d1ce4e5b9u + size;
    };
    if (size >= 8) {
      return mixed(word(name, 0), word(name, size - 8));
    }
    if (size >= 4) {
      return mixed(word<std::uint32_t>(name, 0), word<std::uint32_t>(name, size - 4));
    }
    return size == 0 ? 0
                     : mixed(word<std::uint8_t>(name, 0) << 8 | word<std::uint8_t>(name, size / 2),
                             word<std::uint8_t>(name, size - 1));
  }

  std::string_view name_;
  std::uint64_t digest_;
};

/// Values by name, of which the latest one counts. Names outlive it.
class NamedValues {
 public:
  /// Null where no value from `first` on has the name.
  const double* find(const SoughtName& sought, std::size_t first = 0) const {
    for (std::size_t at = digests_.size(); at > first; --at) {
      if (digests_[at - 1] == sought.digest() && sought.is(values_[at - 1].first)) {
        return &values_[at - 1].second;
      }
    }
    return nullptr;
  }
  void add(std::string_view name, double value) {
    digests_.push_back(SoughtName(name).digest());
    values_.emplace_back(name, value);
  }

  std::size_t size() const { return values_.size(); }
  void cut(std::size_t size) {
    digests_.resize(size);
    values_.resize(size);
  }

 private:
  std::vector<std::uint64_t>
      digests_;  ///< by themselves, because finding a name is where interpreting a nest spends its time
  std::vector<std::pair<std::string_view, double>> values_;
};

}  // namespace esc
