// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/peer_plugin.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "generator/support/error.h"

namespace esc::bench {
namespace {

constexpr const char* remedy = "build it with tests/bench/peer_plugin_interface.h of this version";
constexpr std::uint32_t all_elements = ESC_PEER_F32 | ESC_PEER_F16 | ESC_PEER_BF16;
constexpr std::size_t longest_name = 40;
constexpr std::int32_t most_algorithms = 1000;

bool is_name(std::string_view name) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789-_";
  return !name.empty() && name.size() <= longest_name && name.find_first_not_of(letters) == name.npos;
}

/// The rule that a description breaks; empty where it breaks none.
std::string broken_rule(const esc_peer& kernels) {
  if (kernels.name == nullptr || !is_name(kernels.name)) {
    return fmt::format("the name is to have lower-case letters, digits, - and _, {} at most", longest_name);
  }
  const std::string_view name = kernels.name;
  if (name.starts_with("cublas") || name.starts_with("cusparse")) {
    return "names that begin with cublas or cusparse are those of NVIDIA's libraries";
  }
  if (kernels.elements == 0 || (kernels.elements & ~all_elements) != 0) {
    return "the types of elements are to be some of those that the interface has";
  }
  if ((kernels.exact & ~kernels.elements) != 0) {
    return "the types that it is exact for are to be among those that it takes";
  }
  if (kernels.layout != ESC_PEER_LAYOUT_KN && kernels.layout != ESC_PEER_LAYOUT_NK) {
    return "the layout is to be one of the two that the interface has";
  }
  if (kernels.algorithms < 1 || kernels.algorithms > most_algorithms) {
    return fmt::format("there are to be 1 to {} algorithms", most_algorithms);
  }
  if (kernels.algorithm_name == nullptr || kernels.make == nullptr || kernels.launch == nullptr ||
      kernels.release == nullptr) {
    return "one of its functions is missing";
  }
  for (std::int32_t algorithm = 0; algorithm < kernels.algorithms; ++algorithm) {
    if (kernels.algorithm_name(algorithm) == nullptr) {
      return fmt::format("algorithm {} has no name", algorithm);
    }
  }
  return {};
}

const esc_peer* described(const SharedLibrary& library, const std::filesystem::path& file) {
  const auto version = library.function<decltype(esc_peer_interface_version)>("esc_peer_interface_version", remedy)();
  if (version != ESC_PEER_INTERFACE_VERSION) {
    throw UserError(
        file.string(),
        fmt::format("has version {} of the interface of peers, not {}", version, ESC_PEER_INTERFACE_VERSION), remedy);
  }
  const esc_peer* const kernels = library.function<decltype(esc_peer_describe)>("esc_peer_describe", remedy)();
  const std::string rule = kernels == nullptr ? "there is no description" : broken_rule(*kernels);
  if (!rule.empty()) {
    throw UserError(file.string(), "describes its kernels wrongly: " + rule, "see tests/bench/peer_plugin_interface.h");
  }
  return kernels;
}

}  // namespace

PeerPlugin::PeerPlugin(const std::filesystem::path& file)
    : library_(file, "give the path of a shared library, with all libraries that it needs"),
      kernels_(described(library_, file)) {}

std::vector<std::shared_ptr<const PeerPlugin>> load_peer_plugins(const std::vector<std::string>& files) {
  std::vector<std::shared_ptr<const PeerPlugin>> plugins;
  std::set<std::string> names;
  for (const std::string& file : files) {
    plugins.push_back(std::make_shared<const PeerPlugin>(file));
    if (!names.insert(plugins.back()->name()).second) {
      throw UserError(file, fmt::format("has the name of another --peer, {}", plugins.back()->name()),
                      "give each library once, and each its own name");
    }
  }
  return plugins;
}

}  // namespace esc::bench
