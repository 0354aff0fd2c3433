// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/earlier_words.h"

#include <optional>
#include <string_view>

#include "generator/emit/manifest.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/support/error.h"
#include "generator/support/file.h"

namespace esc {

namespace fs = std::filesystem;

namespace {

/// Where the schedule is in the provenance of a generated text.
struct Place {
  std::size_t at;
  std::size_t length;
};

std::optional<Place> place_of_schedule(std::string_view text) {
  constexpr std::string_view before = " schedule ";
  constexpr std::string_view after = ". Do not edit;";
  const std::size_t found = text.find(before);
  const std::size_t end = found == text.npos ? text.npos : text.find(after, found);
  if (end == text.npos) {
    return std::nullopt;
  }
  const std::size_t at = found + before.size();
  return Place{at, end - at};
}

/// Whether both are one schedule. What goes over the end of a line is none: the rest of it would be no comment.
bool is_same_schedule(const std::string& earlier, const std::string& printed) {
  if (earlier.find_first_of("\r\n") != earlier.npos) {
    return false;
  }
  try {
    return text_of(parse_choice(earlier, "")) == printed;
  } catch (const UserError&) {
    return false;
  }
}

}  // namespace

std::string in_words_of(const std::string& on_disk, std::string generated) {
  const std::optional<Place> there = place_of_schedule(on_disk);
  const std::optional<Place> here = place_of_schedule(generated);
  if (there && here) {
    const std::string earlier = on_disk.substr(there->at, there->length);
    if (is_same_schedule(earlier, generated.substr(here->at, here->length))) {
      generated.replace(here->at, here->length, earlier);
    }
  }
  return generated;
}

KernelBundle in_words_on_disk(KernelBundle bundle, const fs::path& directory) {
  for (BundleFile& file : bundle.files) {
    std::error_code error;
    const fs::path path = directory / bundle.name / file.name;
    if (file.packed == nullptr && file.name != "manifest.json" && fs::is_regular_file(path, error)) {
      file.text = in_words_of(read_bundle_file(path), std::move(file.text));
    }
  }
  return bundle;
}

}  // namespace esc
