#include "generator/verify/bundle_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "generator/support/error.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

/// The function of this signature that the library calls `symbol`.
template <typename Signature>
Signature* resolve(void* library, const std::string& symbol, const fs::path& file) {
  void* address = dlsym(library, symbol.c_str());
  if (address == nullptr) {
    throw UserError(file.string(), fmt::format("has no function {}", symbol), "compile the bundle's .cu and transformer into it");
  }
  return reinterpret_cast<Signature*>(address);
}

}  // namespace

BundleLibrary::BundleLibrary(const fs::path& file, const std::string& name)
    : handle_(dlopen(fs::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) {
    throw UserError(file.string(), fmt::format("cannot be loaded: {}", dlerror()));
  }
  transformer_ = {resolve<std::size_t()>(handle_, name + "_packed_bytes", file),
                  resolve<int(const void*, std::int64_t, void*)>(handle_, name + "_transform", file),
                  resolve<int(const std::int32_t*, const std::int32_t*, const void*, void*)>(
                      handle_, name + "_transform_csr", file),
                  resolve<const char*()>(handle_, name + "_transform_error", file)};
  kernel_ = {resolve<int()>(handle_, name + "_prepare", file),
             resolve<int(const void*, const void*, std::int64_t, void*, std::int64_t, std::int32_t, void*)>(
                 handle_, name + "_spmm", file)};
}

BundleLibrary::~BundleLibrary() { dlclose(handle_); }

}  // namespace esc
