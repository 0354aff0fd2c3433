// SPDX-License-Identifier: Apache-2.0
#include "tuner/build/nvcc_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "generator/support/architecture.h"
#include "generator/support/file.h"
#include "generator/support/process.h"
#include "generator/support/temporary_folder.h"
#include "generator/verify/nvcc.h"

namespace esc::tuning {
namespace {

/// Names the kernels in host code, as a launch would: nvcc compiles those instances of a template that host code names.
std::string with_instances(const KernelText& text) {
  std::string instances;
  for (std::size_t number = 0; number < text.kernels.size(); ++number) {
    instances += fmt::format("auto* const wanted_kernel_{} = {};\n", number, text.kernels[number]);
  }
  std::string types;
  for (const auto& [type, header] : {std::pair("__half", "cuda_fp16.h"), std::pair("__nv_bfloat16", "cuda_bf16.h"),
                                     std::pair("CUtensorMap", "cuda.h")}) {
    if (text.text.find(type) != std::string::npos) {
      types += fmt::format("#include <{}>\n", header);
    }
  }
  return fmt::format(
      "{}#include <cuda_pipeline_primitives.h>\n#include <cuda_runtime.h>\n#include <stdint.h>\n\n{}\n{}", types,
      text.text, instances);
}

std::vector<std::string> options_for(int architecture) {
  return {"-std=c++17", "-O3", "-cubin", "-arch=sm_" + compiled_architecture(architecture)};
}

/// In a group of its own: what ends this program's measuring at a terminal must not look as if a text did not compile.
ProcessResult run_nvcc(std::vector<std::string> arguments, ProcessOptions options = {}) {
  arguments.insert(arguments.begin(), find_nvcc().string());
  options.own_group = true;
  return run_process(arguments, options);
}

/// The name of a kernel in the machine code. Both compilers mangle it alike, but for the unnamed namespace around it,
/// whose name nvcc makes up: what is after the kernel's own name, its arguments, tells one instance from another.
std::string symbol_in(const std::string& image, const std::string& kernel, const std::string& symbol_of_nvrtc) {
  const std::string name = kernel.substr(0, kernel.find('<'));
  const std::size_t own = symbol_of_nvrtc.find(std::to_string(name.size()) + name);
  const std::string end = (own == std::string::npos ? symbol_of_nvrtc : symbol_of_nvrtc.substr(own)) + '\0';
  const std::size_t at = image.find(end);
  if (at == std::string::npos) {
    throw BuildError(fmt::format("nvcc has left {} out", kernel));
  }
  // Before it may be the section's ".text.".
  const std::size_t begin = image.rfind('\0', at) + 1;
  const std::size_t mangled = image.find("_Z", begin);
  return image.substr(std::min(mangled, at), at + end.size() - 1 - std::min(mangled, at));
}

}  // namespace

std::optional<Compiler> installed_nvcc() {
  if (find_nvcc().empty()) {
    return std::nullopt;
  }
  const std::string says = run_nvcc({"--version"}).output;
  const std::string mark = "release ";
  const std::size_t begin = says.find(mark);
  if (begin == std::string::npos) {
    return std::nullopt;
  }
  const std::size_t number = begin + mark.size();
  // A text without content shows what is put around any.
  const KernelText frame{.text = "", .kernels = {""}, .architecture = 0};
  return Compiler{.name = "nvcc " + says.substr(number, says.find(',', number) - number),
                  .setup = short_digest(says + with_instances(frame) +
                                        fmt::format("{}", fmt::join(options_for(frame.architecture), " ")))};
}

Cubin build_with_nvcc(const KernelText& text, const std::vector<std::string>& symbols,
                      std::chrono::milliseconds patience) {
  const TemporaryFolder workshop;
  write_file_whole(workshop.path() / "kernel.cu", with_instances(text));
  std::vector<std::string> arguments = options_for(text.architecture);
  arguments.insert(arguments.end(), {"-o", "kernel.cubin", "kernel.cu"});
  const ProcessResult result = run_nvcc(arguments, {.folder = workshop.path(), .patience = patience});
  if (result.timed_out) {
    throw BuildError(fmt::format("nvcc has not ended after {} seconds", patience.count() / 1000));
  }
  if (result.status != 0) {
    throw BuildError(result.output);
  }
  const std::string image = read_file(workshop.path() / "kernel.cubin");
  Cubin cubin{.image = {image.begin(), image.end()}, .symbols = {}};
  for (std::size_t number = 0; number < symbols.size(); ++number) {
    cubin.symbols.push_back(symbol_in(image, text.kernels[number], symbols[number]));
  }
  return cubin;
}

}  // namespace esc::tuning
