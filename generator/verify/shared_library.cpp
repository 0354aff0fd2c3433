// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/shared_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "generator/support/error.h"

namespace esc {

SharedLibrary::SharedLibrary(const std::filesystem::path& file, const std::string& remedy)
    : file_(file), handle_(dlopen(std::filesystem::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) {
    throw UserError(file.string(), fmt::format("cannot be loaded: {}", dlerror()), remedy);
  }
}

SharedLibrary::~SharedLibrary() { dlclose(handle_); }

void* SharedLibrary::find_address(const std::string& symbol) const { return dlsym(handle_, symbol.c_str()); }

void* SharedLibrary::address(const std::string& symbol, const std::string& remedy) const {
  void* const found = find_address(symbol);
  if (found == nullptr) {
    throw UserError(file_.string(), fmt::format("has no function {}", symbol), remedy);
  }
  return found;
}

}  // namespace esc
