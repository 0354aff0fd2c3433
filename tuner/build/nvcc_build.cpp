#include "tuner/build/nvcc_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

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
  return fmt::format("#include <cuda_pipeline_primitives.h>\n#include <cuda_runtime.h>\n#include <stdint.h>\n\n{}\n{}",
                     text.text, instances);
}

/// The name of a kernel in the machine code. Both compilers mangle it alike, but for the unnamed namespace around it,
/// whose name nvcc makes up: what stands behind the kernel's own name, its arguments, tells one instance from another.
std::string symbol_in(const std::string& image, const std::string& kernel, const std::string& symbol_of_nvrtc) {
  const std::string name = kernel.substr(0, kernel.find('<'));
  const std::size_t own = symbol_of_nvrtc.find(std::to_string(name.size()) + name);
  const std::string end = (own == std::string::npos ? symbol_of_nvrtc : symbol_of_nvrtc.substr(own)) + '\0';
  const std::size_t at = image.find(end);
  if (at == std::string::npos) {
    throw BuildError(fmt::format("nvcc has left {} out", kernel));
  }
  // In front of it may stand the section's ".text.".
  const std::size_t begin = image.rfind('\0', at) + 1;
  const std::size_t mangled = image.find("_Z", begin);
  return image.substr(std::min(mangled, at), at + end.size() - 1 - std::min(mangled, at));
}

}  // namespace

std::optional<std::string> nvcc_name() {
  const std::filesystem::path nvcc = find_nvcc();
  if (nvcc.empty()) {
    return std::nullopt;
  }
  const std::string says = run_process({nvcc.string(), "--version"}).output;
  const std::string mark = "release ";
  const std::size_t begin = says.find(mark);
  if (begin == std::string::npos) {
    return std::nullopt;
  }
  const std::size_t number = begin + mark.size();
  return "nvcc " + says.substr(number, says.find(',', number) - number);
}

Cubin build_with_nvcc(const KernelText& text, const std::vector<std::string>& symbols) {
  const TemporaryFolder workshop;
  write_file_whole(workshop.path() / "kernel.cu", with_instances(text));
  const ProcessResult result =
      run_process({find_nvcc().string(), "-std=c++17", "-O3", "-cubin", fmt::format("-arch=sm_{}", text.architecture),
                   "-o", "kernel.cubin", "kernel.cu"},
                  {.folder = workshop.path()});
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
