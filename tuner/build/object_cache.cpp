// SPDX-License-Identifier: Apache-2.0
#include "tuner/build/object_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "generator/matrix/fingerprint.h"
#include "generator/support/error.h"
#include "generator/support/file.h"

namespace esc::tuning {
namespace {

namespace fs = std::filesystem;

/// A checksum in the first line; then the symbols, one a line, an empty line, and the code.
std::string text_of(const Cubin& cubin) {
  std::string body;
  for (const std::string& symbol : cubin.symbols) {
    body += symbol + '\n';
  }
  body += '\n';
  body.append(cubin.image.begin(), cubin.image.end());
  return sha256_of_text(body) + '\n' + body;
}

std::optional<Cubin> parse(const std::string& text) {
  const std::size_t checksum = text.find('\n');
  if (checksum == std::string::npos || sha256_of_text(text.substr(checksum + 1)) != text.substr(0, checksum)) {
    return std::nullopt;
  }
  Cubin cubin;
  std::size_t begin = checksum + 1;
  for (std::size_t end = text.find('\n', begin); end > begin; end = text.find('\n', begin)) {
    cubin.symbols.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  cubin.image.assign(text.begin() + static_cast<std::ptrdiff_t>(begin) + 1, text.end());
  return cubin;
}

}  // namespace

ObjectCache::ObjectCache(fs::path folder) : folder_(std::move(folder)) {
  if (!folder_.has_filename()) {
    folder_ = folder_.parent_path();  // "folder/"
  }
  std::error_code problem;
  fs::create_directories(folder_.parent_path(), problem);
  ::mkdir(folder_.c_str(), S_IRWXU);
  struct stat status = {};
  if (::stat(folder_.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    throw UserError(folder_.string(), "cannot be made a folder for compiled kernels", "give another one with --cache");
  }
  // What lies there is run on the GPU, with the rights of this user.
  if (status.st_uid != ::geteuid()) {
    throw UserError(folder_.string(), "belongs to another user, who could put any code there",
                    "give a folder of your own with --cache, or --no-cache");
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    throw UserError(folder_.string(), "can be written by other users, who could put any code there",
                    "take that right away (chmod go-w), give another folder with --cache, or --no-cache");
  }
}

fs::path ObjectCache::file_of(const KernelText& text, const std::string& compiler) const {
  return folder_ / (sha256_of_text(compiler + '\n' + digest(text)) + ".cubin");
}

std::optional<Cubin> ObjectCache::find(const KernelText& text, const std::string& compiler) const {
  try {
    return parse(read_file(file_of(text, compiler)));
  } catch (const UserError&) {  // it is not there, or another user's
    return std::nullopt;
  }
}

void ObjectCache::keep(const KernelText& text, const std::string& compiler, const Cubin& cubin) const {
  write_file_whole(file_of(text, compiler), text_of(cubin));
}

Builder cached(Builder builder, std::string compiler, const ObjectCache* cache) {
  if (cache == nullptr) {
    return builder;
  }
  return [builder = std::move(builder), compiler = std::move(compiler), cache](const KernelText& text) {
    if (std::optional<Cubin> kept = cache->find(text, compiler)) {
      return *std::move(kept);
    }
    Cubin cubin = builder(text);
    try {
      cache->keep(text, compiler, cubin);
    } catch (const UserError&) {
      // A full disk costs time in the next run, not the candidate in this one.
    }
    return cubin;
  };
}

fs::path default_cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    return fs::path(cache) / "esc";
  }
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? fs::path() : fs::path(home) / ".cache" / "esc";
}

}  // namespace esc::tuning
