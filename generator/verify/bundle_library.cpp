#include "generator/verify/bundle_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

#include "generator/support/error.h"
#include "generator/support/process.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

template <typename Function>
void resolve(void* library, const std::string& symbol, const fs::path& file, Function& function) {
  void* address = dlsym(library, symbol.c_str());
  if (address == nullptr) {
    throw UserError(file.string(), fmt::format("has no function {}", symbol), "compile the bundle's .cu and transformer");
  }
  function = reinterpret_cast<Function>(address);
}

}  // namespace

BundleLibrary::BundleLibrary(const fs::path& file, const std::string& name)
    : handle_(dlopen(fs::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) {
    throw UserError(file.string(), fmt::format("cannot be loaded: {}", dlerror()));
  }
  resolve(handle_, name + "_packed_bytes", file, functions_.packed_bytes);
  resolve(handle_, name + "_transform", file, functions_.transform);
  resolve(handle_, name + "_transform_csr", file, functions_.transform_csr);
  resolve(handle_, name + "_transform_error", file, functions_.transform_error);
  resolve(handle_, name + "_load", file, functions_.load);
  resolve(handle_, name + "_prepare", file, functions_.prepare);
  resolve(handle_, name + "_spmm", file, functions_.spmm);
}

BundleLibrary::~BundleLibrary() { dlclose(handle_); }

fs::path find_nvcc() {
  std::istringstream folders(std::getenv("PATH") == nullptr ? "" : std::getenv("PATH"));
  std::error_code ignored;
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (fs::exists(fs::path(folder) / "nvcc", ignored)) {
      return fs::path(folder) / "nvcc";
    }
  }
  const fs::path usual = "/usr/local/cuda/bin/nvcc";
  return fs::exists(usual, ignored) ? usual : fs::path();
}

fs::path compile_bundle(const fs::path& folder, const std::string& name, const fs::path& output) {
  const fs::path nvcc = find_nvcc();
  if (nvcc.empty()) {
    throw UserError("nvcc", "is neither on the PATH nor in /usr/local/cuda/bin", "install the CUDA toolkit",
                    ExitStatus::missing_tool);
  }
  const fs::path library = output / (name + ".so");
  const ProcessResult result =
      run_process({nvcc.string(), "-std=c++17", "-O3", "-arch=native", "-Xcompiler", "-fPIC", "-shared", "-o",
                   library.string(), (folder / (name + ".cu")).string(),
                   (folder / (name + "_transformer.cpp")).string()});
  if (result.status != 0) {
    throw UserError(folder.string(), "does not compile:\n" + result.output, {}, ExitStatus::check_failed);
  }
  return library;
}

}  // namespace esc
