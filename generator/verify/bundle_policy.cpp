// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/bundle_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "generator/emit/earlier_words.h"
#include "generator/emit/generate.h"
#include "generator/frontend/format_source.h"
#include "generator/frontend/host_compiler/tokens.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/verify/described_layer.h"
#include "generator/verify/text_policy.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

void check_files(const fs::path& folder, const KernelBundle& generated) {
  std::set<std::string> known;
  for (const BundleFile& file : generated.files) {
    known.insert(file.name);
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (!known.contains(entry.path().filename().string())) {
      refuse_bundle(entry.path(), "is no file of a bundle: the build of its users would find it");
    }
    if (!entry.is_regular_file() || entry.is_symlink()) {
      refuse_bundle(entry.path(), "is not a regular file");
    }
  }
}

/// The first line in which two texts differ, from 1.
std::size_t differing_line(std::string_view a, std::string_view b) {
  const auto at =
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())), b.begin()).first;
  return 1 + static_cast<std::size_t>(std::count(a.begin(), at, '\n'));
}

void check_same(const fs::path& file, const std::string& generated) {
  const std::string found = read_bundle_file(file);
  const std::string expected = in_words_of(found, generated);
  if (found != expected) {
    refuse_bundle(fmt::format("{}:{}", file.string(), differing_line(found, expected)),
                  "is not what is generated for this manifest and matrix");
  }
}

/// Whether compilers take both for the same: where lines end matters in directives alone.
bool has_same_tokens(const std::string& text, const std::string& generated) {
  if (text == generated) {
    return true;
  }
  bool in_directive = false;
  const auto is_same = [&](const SourceToken& a, const SourceToken& b) {
    const bool directive = a.text == "#" || in_directive;
    in_directive = a.begins_line ? a.text == "#" : in_directive;
    return a.text == b.text && (a.begins_line == b.begins_line || !directive);
  };
  return std::ranges::equal(tokens_of(text), tokens_of(generated), is_same);
}

}  // namespace

BundleVerdict check_policy(const fs::path& folder, const LoadedBundle& bundle, const LoopNest& nest) {
  const fs::path manifest_file = folder / "manifest.json";
  const GeneratedLayer layer = described_layer(bundle.manifest, bundle.matrix, nest, manifest_file);
  const KernelBundle generated =
      make_bundle(layer, [](const std::string& file, const std::string& text) { return format_source(text, file); });
  check_files(folder, generated);
  bool is_generated = true;
  for (const BundleFile& file : generated.files) {
    if (file.name.ends_with(".h") || file.name == "CMakeLists.txt") {
      check_same(folder / file.name, file.text);
    } else if (file.name == "manifest.json") {
      check_same(manifest_file, manifest_as_measured(layer.layer, read_bundle_file(manifest_file)));
    } else if (file.name.ends_with(".cu")) {
      check_kernel_text(file.name, bundle.kernel_text, file.text);
      is_generated = is_generated && has_same_tokens(bundle.kernel_text, file.text);
    } else if (file.name.ends_with(".cpp")) {
      check_transformer_text(file.name, bundle.transformer_text, file.text);
      is_generated = is_generated && has_same_tokens(bundle.transformer_text, file.text);
    }
  }
  return {dispatch_of(layer.layer), is_generated ? Breadth::generated : Breadth::unknown};
}

}  // namespace esc
