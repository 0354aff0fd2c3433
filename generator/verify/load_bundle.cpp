// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>
#include <span>
#include <system_error>

#include "generator/matrix/fingerprint.h"
#include "generator/matrix/statistics.h"
#include "generator/patterns/unpacked_matrix.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/limits.h"
#include "generator/support/regular_file.h"
#include "generator/verify/verify.h"
#include "transformer/description.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

/// A packed file, unless it is longer than it says: then nothing is read but its header.
std::string read_packed(const fs::path& file, const Manifest& manifest) {
  const RegularFile packed(file, "a packed matrix", FileOf::bundle);
  const std::uint64_t most = most_packed_bytes(csr_bytes(manifest.rows, manifest.nonzeros, manifest.element));
  if (packed.size() > most) {
    throw UserError(file.string(),
                    fmt::format("has {} bytes, more than the {} that a matrix of the manifest's is packed into",
                                packed.size(), most),
                    "generate the bundle again", ExitStatus::check_failed);
  }
  if (packed.size() >= sizeof(transformer::Header)) {
    transformer::Header header;
    packed.read_at(0, std::as_writable_bytes(std::span(&header, 1)));
    if (packed.size() > header.total_bytes) {
      throw UserError(file.string(),
                      fmt::format("has {} bytes, of which its header says {}", packed.size(), header.total_bytes),
                      "generate the bundle again", ExitStatus::check_failed);
    }
  }
  std::string content(packed.size(), '\0');
  packed.read_at(0, std::as_writable_bytes(std::span(content)));
  return content;
}

SparseMatrix unpack_matrix(const std::string& packed, ScalarType element, const fs::path& file) {
  try {
    return unpacked_matrix(transformer::unpack(std::as_bytes(std::span(packed))), element);
  } catch (const transformer::FormatError& problem) {
    throw UserError(file.string(), problem.what(), "generate the bundle again", ExitStatus::check_failed);
  }
}

void check_fingerprint(const SparseMatrix& matrix, const Manifest& manifest, const fs::path& file) {
  const Fingerprint found = fingerprint(matrix);
  if (found.pattern != manifest.pattern_sha256 || found.values != manifest.values_sha256) {
    throw UserError(file.string(),
                    fmt::format("does not hold the matrix of the manifest: SHA-256 of its {} differs",
                                found.pattern != manifest.pattern_sha256 ? "pattern" : "values"),
                    "generate the bundle again", ExitStatus::check_failed);
  }
}

/// What the manifest says of the matrix beside its checksums.
void check_sizes(const SparseMatrix& matrix, const Manifest& manifest, const fs::path& file) {
  if (manifest.rows != matrix.rows || manifest.columns != matrix.columns || manifest.nonzeros != matrix.nonzeros()) {
    throw UserError(file.string(),
                    fmt::format("says {} x {} with {} non-zeros; the packed matrix is {} x {} with {}", manifest.rows,
                                manifest.columns, manifest.nonzeros, matrix.rows, matrix.columns, matrix.nonzeros()),
                    "generate the bundle again", ExitStatus::check_failed);
  }
}

/// A text that a build of the bundle needs, though nothing here runs it, must at least have these in it.
void check_mentions(const fs::path& file, const std::vector<std::string>& expected) {
  const std::string text = read_bundle_file(file);
  for (const std::string& words : expected) {
    if (text.find(words) == std::string::npos) {
      throw UserError(file.string(), fmt::format("does not have '{}'", words), "generate the bundle again",
                      ExitStatus::check_failed);
    }
  }
}

/// Header and build file name everything that users of the bundle hold on to.
void check_other_texts(const fs::path& folder, const std::string& name) {
  std::vector<std::string> functions;
  for (const char* function :
       {"packed_bytes", "transform", "transform_csr", "load", "transform_error", "prepare", "spmm"}) {
    functions.push_back(fmt::format("{}_{}(", name, function));
  }
  check_mentions(folder / (name + ".h"), functions);
  check_mentions(folder / "CMakeLists.txt", {fmt::format("add_library(esc::{} ALIAS {})", name, name)});
}

/// Of the bundles that are beside `folder` under its name and a number of columns, as generate writes one layer for
/// several numbers, the first; empty where there is none.
std::string bundle_of_a_number(fs::path folder) {
  if (!folder.has_filename()) {  // DIR/
    folder = folder.parent_path();
  }
  std::set<std::string> found;
  std::error_code ignored;
  for (const fs::directory_entry& beside : fs::directory_iterator(fs::absolute(folder).parent_path(), ignored)) {
    if (beside.path().filename().string().starts_with(folder.filename().string() + "_n") &&
        fs::is_regular_file(beside.path() / "manifest.json", ignored)) {
      found.insert((folder.parent_path() / beside.path().filename()).string());
    }
  }
  return found.empty() ? "" : *found.begin();
}

}  // namespace

BundleUnderTest LoadedBundle::under_test(LoopNest nest, const Dispatch& dispatch) const {
  return {manifest.name, std::move(nest), dispatch, kernel_text, transformer_text, std::as_bytes(std::span(packed))};
}

LoadedBundle load_bundle(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    const std::string other = bundle_of_a_number(folder);
    throw UserError(folder.string(), "is not a bundle's folder",
                    "name DIR/NAME as `escgen generate` wrote it" + (other.empty() ? "" : ", as in " + other));
  }
  const fs::path manifest_file = folder / "manifest.json";
  LoadedBundle bundle{.manifest = parse_manifest(read_bundle_file(manifest_file), manifest_file.string()),
                      .kernel_text = {},
                      .transformer_text = {},
                      .packed = {},
                      .matrix = {}};
  const std::string& name = bundle.manifest.name;
  bundle.kernel_text = read_bundle_file(folder / (name + ".cu"), most_source_bytes);
  bundle.transformer_text = read_bundle_file(folder / (name + "_transformer.cpp"), most_source_bytes);
  const fs::path packed_file = folder / (name + ".packed");
  bundle.packed = read_packed(packed_file, bundle.manifest);
  bundle.matrix = unpack_matrix(bundle.packed, bundle.manifest.element, packed_file);
  check_fingerprint(bundle.matrix, bundle.manifest, packed_file);
  check_sizes(bundle.matrix, bundle.manifest, manifest_file);
  check_other_texts(folder, name);
  return bundle;
}

}  // namespace esc
