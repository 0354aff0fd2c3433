// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace esc::tuning {

/// A device text and what is wanted of it.
struct KernelText {
  std::string text;
  std::vector<std::string> kernels;  ///< as C++ names them, "layer_kernel<true>"
  int architecture = 0;              ///< 90 for sm_90
  auto operator<=>(const KernelText&) const = default;
};

/// SHA-256 over all of it, as 64 hexadecimal digits.
std::string digest(const KernelText& text);

/// The first 16 of those digits over a text: tells apart the preludes and options that compilers are used with.
std::string short_digest(const std::string& text);

/// Machine code with the kernels that were asked for. Immutable once made.
struct Cubin {
  std::vector<char> image;
  std::vector<std::string> symbols;  ///< the kernels' names in it, in the order in which they were asked for
  bool operator==(const Cubin&) const = default;
};

/// A text that a compiler refuses; the message is its log.
class BuildError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Turns a text into machine code. Throws BuildError where it does not compile or lacks one of the kernels.
using Builder = std::function<Cubin(const KernelText&)>;

}  // namespace esc::tuning
