// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "generator/verify/shared_library.h"
#include "tests/bench/peer_plugin_interface.h"

namespace esc::bench {

/// A shared library with kernels of someone else, loaded for as long as this object lives.
class PeerPlugin {
 public:
  /// Throws UserError when the file is no such library, was made for another version of the interface, or describes
  /// itself wrongly.
  explicit PeerPlugin(const std::filesystem::path& file);

  std::string name() const { return kernels_->name; }
  const esc_peer& kernels() const { return *kernels_; }

 private:
  SharedLibrary library_;
  const esc_peer* kernels_;
};

/// All of them, in their order. Throws UserError as above, and where two have one name.
std::vector<std::shared_ptr<const PeerPlugin>> load_peer_plugins(const std::vector<std::string>& files);

}  // namespace esc::bench
