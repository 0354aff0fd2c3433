// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tuner/build/kernel_text.h"

namespace esc::tuning {

/// Machine code on disk, by what it was made from: a file per text and compiler, named by their SHA-256. Several
/// programs may use a folder at once: files are put into place whole. One that is damaged counts as absent.
class ObjectCache {
 public:
  /// Makes the folder, for this user alone. Throws UserError when that is not possible, and for one that another user
  /// owns or may write to: they could put code there that is then run.
  explicit ObjectCache(std::filesystem::path folder);

  /// `compiler` says which one, in which version and with which prelude and options: its name and its setup.
  std::optional<Cubin> find(const KernelText& text, const std::string& compiler) const;
  /// Safe to call in parallel. Throws UserError when the folder cannot be written.
  void keep(const KernelText& text, const std::string& compiler, const Cubin& cubin) const;

 private:
  std::filesystem::path file_of(const KernelText& text, const std::string& compiler) const;
  std::filesystem::path folder_;
};

/// The builder, asked only for what the cache lacks; what cannot be kept is returned all the same. `cache` must outlive
/// the result; null: none.
Builder cached(Builder builder, std::string compiler, const ObjectCache* cache);

/// $XDG_CACHE_HOME/esc, or .cache/esc in the user's home; empty where neither is known.
std::filesystem::path default_cache_folder();

}  // namespace esc::tuning
