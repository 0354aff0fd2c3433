#pragma once

#include <filesystem>
#include <string>

#include "generator/verify/bundle_interface.h"

namespace esc {

/// A bundle that was compiled to a shared library, loaded for as long as this object lives.
class BundleLibrary {
 public:
  /// Throws UserError when the file is not a shared library or lacks a function of the bundle's.
  BundleLibrary(const std::filesystem::path& file, const std::string& name);
  BundleLibrary(const BundleLibrary&) = delete;
  BundleLibrary& operator=(const BundleLibrary&) = delete;
  ~BundleLibrary();

  const BundleInterface& functions() const { return functions_; }

 private:
  void* handle_ = nullptr;
  BundleInterface functions_;
};

/// Compiles the .cu and the transformer of the bundle in `folder` with nvcc for the GPU of this machine, into a shared
/// library in `output`. Throws UserError (status missing_tool) when there is no nvcc, and (check_failed) with its messages
/// when it refuses the text.
std::filesystem::path compile_bundle(const std::filesystem::path& folder, const std::string& name,
                                     const std::filesystem::path& output);

/// nvcc on the PATH or in /usr/local/cuda/bin; empty when there is none.
std::filesystem::path find_nvcc();

}  // namespace esc
