// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "generator/verify/bundle_interface.h"
#include "generator/verify/shared_library.h"

namespace esc {

/// A bundle that was compiled to a shared library, loaded for as long as this object lives.
class BundleLibrary {
 public:
  /// Throws UserError when the file is not a shared library or lacks a function of the bundle's.
  BundleLibrary(const std::filesystem::path& file, const std::string& name);

  const TransformerFunctions& transformer() const { return transformer_; }
  const KernelFunctions& kernel() const { return kernel_; }

 private:
  SharedLibrary library_;
  TransformerFunctions transformer_;
  KernelFunctions kernel_;
};

}  // namespace esc
