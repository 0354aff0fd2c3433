#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace esc::gpu {

/// A device text that NVRTC refuses; the message is its log.
class BuildError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Machine code with the kernels that were asked for. Immutable once made.
struct Cubin {
  std::vector<char> image;
  std::vector<std::string> symbols;  ///< the kernels' names in it, in the order in which they were asked for
};

/// Compiles a device text, behind the prelude that stands for CUDA's headers, to the machine code of one architecture
/// (90 for sm_90). `kernels` are the kernels as C++ names them, "layer_kernel<true>". Needs no GPU. Safe to call in
/// parallel, though NVRTC then builds one text after the other. Throws BuildError when the text does not compile or
/// lacks one of the kernels.
Cubin build(const std::string& text, const std::vector<std::string>& kernels, int architecture);

/// Version of NVRTC, "13.0".
std::string rtc_version();

/// Builds a text as `build` does, and throws as it does.
using Builder =
    std::function<Cubin(const std::string& text, const std::vector<std::string>& kernels, int architecture)>;

/// The machine code of all texts that a program has asked for, each compiled once.
class CubinStore {
 public:
  /// `builder` is called in parallel.
  CubinStore(int architecture, Builder builder) : architecture_(architecture), builder_(std::move(builder)) {}

  /// Builds the text, or waits for whoever builds it already. A text that is asked for with other kernels is another: it holds
  /// the instances of those alone. Safe to call in parallel. Throws as `build` does.
  std::shared_ptr<const Cubin> get(const std::string& text, const std::vector<std::string>& kernels);

 private:
  using Result = std::shared_future<std::shared_ptr<const Cubin>>;
  int architecture_;
  Builder builder_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::vector<std::string>>, Result> results_;  ///< by text and kernels
};

}  // namespace esc::gpu
