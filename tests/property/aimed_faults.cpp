// SPDX-License-Identifier: Apache-2.0
#include "tests/property/aimed_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace esc::tests {
namespace {

/// A text without its blanks, and where each of its characters is.
struct Unspaced {
  std::string characters;
  std::vector<std::size_t> places;
};

Unspaced without_blanks(const std::string& text) {
  Unspaced found;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (std::isspace(static_cast<unsigned char>(text[at])) == 0) {
      found.characters += text[at];
      found.places.push_back(at);
    }
  }
  return found;
}

std::string replace_words(const std::string& text, const FaultyWords& change) {
  const Unspaced all = without_blanks(text);
  const std::string wanted = without_blanks(change.words).characters;
  std::string changed;
  std::size_t behind = 0;  // of what has been taken over
  int found = 0;
  for (std::size_t at = all.characters.find(wanted); at != std::string::npos;
       at = all.characters.find(wanted, at + wanted.size())) {
    changed += text.substr(behind, all.places[at] - behind) + change.replacement;
    behind = all.places[at + wanted.size() - 1] + 1;
    ++found;
  }
  if (found == 0 || (found > 1 && !change.everywhere)) {
    throw std::invalid_argument(fmt::format("'{}' is there {} times", change.words, found));
  }
  return changed + text.substr(behind);
}

/// With `name` for each NAME that is no part of another word but of names that begin with it.
std::string named(const std::string& words, const std::string& name) {
  return std::regex_replace(words, std::regex("\\bNAME(?=_|\\b)"), name);
}

std::vector<std::string> split_at_commas(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream stream(list);
  for (std::string part; std::getline(stream >> std::ws, part, ',');) {
    parts.push_back(part);
  }
  return parts;
}

/// Takes a file line by line.
class Reader {
 public:
  std::vector<AimedFault> read(std::istream& stream) {
    for (std::string line; std::getline(stream, line);) {
      ++number_;
      read_line(line);
    }
    end_entry();
    return std::move(faults_);
  }

 private:
  [[noreturn]] void refuse(const std::string& rule) const {
    throw std::invalid_argument(fmt::format("line {}: {}", number_, rule));
  }

  void read_line(const std::string& line) {
    static const std::regex of_class("class ([^:]+): .+");
    static const std::regex of_fault(R"(fault (\w+) in ([\w, ]+) (kernel|transformer)(, one number)?: (.+))");
    std::smatch parts;
    if (line.empty() || line.starts_with("#")) {
      return;
    }
    if (line.starts_with("- ") || line.starts_with("-* ")) {
      const bool everywhere = line[1] == '*';
      const std::string words = line.substr(everywhere ? 3 : 2);
      changes().push_back({words, "", everywhere});
    } else if (line.starts_with("+ ")) {
      if (changes().empty()) {
        refuse("has no words to replace");
      }
      std::string& replacement = changes().back().replacement;
      replacement += (replacement.empty() ? "" : "\n") + line.substr(2);
    } else if (std::regex_match(line, parts, of_class)) {
      end_entry();
      kind_ = parts[1];
    } else if (std::regex_match(line, parts, of_fault)) {
      end_entry();
      for (const std::string& subject : split_at_commas(parts[2])) {
        entry_.push_back({kind_, parts[1], subject, parts[3] == "kernel", parts[4].matched, parts[5], {}});
      }
    } else {
      refuse("is none of a catalogue: " + line);
    }
  }

  /// Of the entry; those of its other subjects follow in the end.
  std::vector<FaultyWords>& changes() {
    if (entry_.empty()) {
      refuse("is before any fault");
    }
    return entry_.front().changes;
  }

  void end_entry() {
    const std::vector<FaultyWords> written = entry_.empty() ? std::vector<FaultyWords>() : entry_.front().changes;
    for (AimedFault& fault : entry_) {
      fault.changes = written;
      for (FaultyWords& change : fault.changes) {
        change.words = named(change.words, fault.subject);
        change.replacement = named(change.replacement, fault.subject);
      }
      if (written.empty() ||
          std::ranges::any_of(faults_, [&](const AimedFault& known) { return known.title() == fault.title(); })) {
        refuse(fault.title() + " changes nothing, or is there twice");
      }
      faults_.push_back(std::move(fault));
    }
    entry_.clear();
  }

  int number_ = 0;
  std::string kind_;
  std::vector<AimedFault> entry_;  ///< one for each subject, of which the first one has the changes
  std::vector<AimedFault> faults_;
};

}  // namespace

std::string AimedFault::title() const {
  return fmt::format("{}: {} in {} {}", kind, name, subject, in_kernel ? "kernel" : "transformer");
}

std::string AimedFault::in(const std::string& text) const {
  std::string faulty = text;
  for (const FaultyWords& change : changes) {
    faulty = replace_words(faulty, change);
  }
  if (without_blanks(faulty).characters == without_blanks(text).characters) {
    throw std::invalid_argument("the text stays as it is");
  }
  return faulty;
}

std::vector<AimedFault> read_aimed_faults(const std::string& file) {
  std::ifstream stream(file);
  return Reader().read(stream);
}

}  // namespace esc::tests
