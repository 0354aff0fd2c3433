#include "generator/verify/bundle_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <fstream>

#include "generator/support/error.h"
#include "generator/support/temporary_folder.h"

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

/// Calls the function with a path that leads to what is wanted.
int load_from_disk(int (*load)(const char*, void*), const PackedFile& file, void* packed) {
  if (file.path == PackedFile::Path::null) {
    return load(nullptr, packed);
  }
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "packed";
  if (file.path == PackedFile::Path::file) {
    std::ofstream stream(path, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(file.contents.data()), static_cast<std::streamsize>(file.contents.size()));
  }
  return load(path.c_str(), packed);
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
                  [load = resolve<int(const char*, void*)>(handle_, name + "_load", file)](const PackedFile& packed_file, void* packed) {
                    return load_from_disk(load, packed_file, packed);
                  },
                  resolve<const char*()>(handle_, name + "_transform_error", file)};
  kernel_ = {resolve<int()>(handle_, name + "_prepare", file),
             [spmm = resolve<void()>(handle_, name + "_spmm", file)](const ProductArguments& arguments) {
               return call_product(reinterpret_cast<void*>(spmm), arguments);
             }};
}

BundleLibrary::~BundleLibrary() { dlclose(handle_); }

}  // namespace esc
