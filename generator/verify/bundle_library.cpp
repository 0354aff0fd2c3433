// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/bundle_library.h"

#include <fstream>

#include "generator/support/temporary_folder.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

const std::string remedy = "compile the bundle's .cu and transformer into it";

/// Calls the function with a path that leads to what is wanted.
int load_from_disk(int (*load)(const char*, void*), const PackedFile& file, void* packed) {
  if (file.path == PackedFile::Path::null) {
    return load(nullptr, packed);
  }
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "packed";
  if (file.path == PackedFile::Path::file) {
    std::ofstream stream(path, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(file.contents.data()),
                 static_cast<std::streamsize>(file.contents.size()));
  }
  return load(path.c_str(), packed);
}

}  // namespace

BundleLibrary::BundleLibrary(const fs::path& file, const std::string& name) : library_(file) {
  transformer_ = {
      library_.function<std::size_t()>(name + "_packed_bytes", remedy),
      library_.function<int(const void*, std::int64_t, void*)>(name + "_transform", remedy),
      library_.function<int(const std::int32_t*, const std::int32_t*, const void*, void*)>(name + "_transform_csr",
                                                                                           remedy),
      [load = library_.function<int(const char*, void*)>(name + "_load", remedy)](
          const PackedFile& packed_file, void* packed) { return load_from_disk(load, packed_file, packed); },
      library_.function<const char*()>(name + "_transform_error", remedy)};
  if (const auto bytes_for = library_.find_function<std::size_t(const void*, std::int64_t)>(name + "_bytes_for")) {
    using Indices = const std::int32_t*;
    transformer_.bytes_for = bytes_for;
    transformer_.bytes_for_csr =
        library_.function<std::size_t(Indices, Indices, const void*)>(name + "_bytes_for_csr", remedy);
    transformer_.transform_into =
        library_.function<int(const void*, std::int64_t, void*, std::size_t)>(name + "_transform_into", remedy);
    transformer_.transform_csr_into =
        library_.function<int(Indices, Indices, const void*, void*, std::size_t)>(name + "_transform_csr_into", remedy);
  }
  kernel_ = {library_.function<int()>(name + "_prepare", remedy),
             [spmm = library_.function<void()>(name + "_spmm", remedy)](const ProductArguments& arguments) {
               return call_product(reinterpret_cast<void*>(spmm), arguments);
             },
             nullptr, nullptr};
  if (const auto unpack = library_.find_function<int(const void*, void*, std::int64_t, void*)>(name + "_unpack")) {
    kernel_.unpack = [unpack](const UnpackArguments& given) {
      return unpack(given.packed, given.a, given.lda, given.stream);
    };
  }
  if (const auto values = library_.find_function<int(const void*, std::int64_t, void*, void*)>(name + "_values")) {
    kernel_.values = [values](const UnpackArguments& given) {
      return values(given.a, given.lda, given.packed, given.stream);
    };
  }
}

}  // namespace esc
