// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "generator/support/error.h"

namespace esc {

/// One file of a bundle, in memory. Large binary content may be shared with its maker.
struct BundleFile {
  std::string name;
  std::string text;                           ///< content of a text file
  std::shared_ptr<const std::byte[]> packed;  ///< content of a binary file; null for text
  std::size_t packed_bytes = 0;

  std::span<const std::byte> content() const;
};

/// A kernel bundle in memory: NAME.h, NAME.cu, NAME_transformer.cpp, NAME.packed, manifest.json, CMakeLists.txt.
struct KernelBundle {
  std::string name;
  std::vector<BundleFile> files;
  /// Names of files that the bundle of this name may have besides, because an earlier version of it had them.
  std::vector<std::string> earlier_files = {};
};

/// What writing a bundle did.
enum class WriteOutcome { written, unchanged };

/// In the place of a bundle is another one, which is not to be replaced.
class DifferentBundle : public UserError {
 public:
  explicit DifferentBundle(const std::filesystem::path& target);
};

/// Throws UserError where DIR/NAME has what no bundle may replace: something that is no folder, or a folder with other
/// files than `is_file` says that a bundle of this name has. To be asked before anything is made, too.
void check_place(const std::string& name, const std::filesystem::path& directory,
                 const std::function<bool(const std::string&)>& is_file);

/// Whether DIR/NAME has this very bundle. Throws UserError for what must not be replaced, without `force`
/// DifferentBundle for another one.
bool is_there_already(const KernelBundle& bundle, const std::filesystem::path& directory, bool force);

/// Writes the bundle to DIR/NAME/: the whole folder appears at once or, when replaced, is exchanged at once; nothing is
/// left of it after an error or an interruption. A folder that is already identical is not touched. A different bundle
/// of this name is replaced only with `force`, and a folder with anything else in it never; otherwise throws UserError.
/// Of several that write different ones at once without `force`, one does.
WriteOutcome write_bundle(const KernelBundle& bundle, const std::filesystem::path& directory, bool force);

/// How the bundle on disk differs from the one in memory: a unified diff for texts, a sentence for other files; empty
/// when they are identical.
std::string compare_bundle(const KernelBundle& bundle, const std::filesystem::path& directory);

}  // namespace esc
