#include "generator/verify/nvcc.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <sstream>
#include <tuple>

#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/process.h"
#include "generator/support/temporary_folder.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

/// Runs nvcc; its output. `subject` is what is compiled, for the message.
std::string run_nvcc(std::vector<std::string> arguments, const std::string& subject) {
  const fs::path nvcc = find_nvcc();
  if (nvcc.empty()) {
    throw UserError("nvcc", "is neither on the PATH nor in /usr/local/cuda/bin", "install the CUDA toolkit",
                    ExitStatus::missing_tool);
  }
  arguments.insert(arguments.begin(), nvcc.string());
  const ProcessResult result = run_process(arguments);
  if (result.status != 0) {
    throw UserError(subject, "does not compile:\n" + result.output, {}, ExitStatus::check_failed);
  }
  return result.output;
}

int number_in(const std::smatch& match) { return std::stoi(match[1]); }

}  // namespace

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
  const fs::path library = output / (name + ".so");
  run_nvcc({"-std=c++17", "-O3", "-arch=native", "-Xcompiler", "-fPIC", "-shared", "-o", library.string(),
            (folder / (name + ".cu")).string(), (folder / (name + "_transformer.cpp")).string()},
           folder.string());
  return library;
}

std::vector<KernelResources> parse_ptxas_report(const std::string& report, const std::string& kernel_name) {
  static const std::regex entry(R"(Compiling entry function '([^']*)' for 'sm_(\d+)')");
  static const std::regex registers(R"(Used (\d+) registers)");
  static const std::regex shared(R"((\d+) bytes smem)");
  static const std::regex spills(R"((\d+) bytes spill stores)");
  std::vector<KernelResources> kernels;
  std::istringstream lines(report);
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, match, entry)) {
      // The mangled name of the kernel for n = bCol ends its template argument in Lb1E.
      const bool tuned = match[1].str().find("Lb1E") != std::string::npos;
      kernels.push_back({.kernel = fmt::format("{}<{}>", kernel_name, tuned ? "tuned" : "any"),
                         .architecture = std::stoi(match[2])});
    } else if (!kernels.empty()) {
      KernelResources& kernel = kernels.back();
      if (std::regex_search(line, match, spills)) {
        kernel.spill_bytes = number_in(match);
      }
      if (std::regex_search(line, match, registers)) {
        kernel.registers = number_in(match);
      }
      if (std::regex_search(line, match, shared)) {
        kernel.shared_bytes = number_in(match);
      }
    }
  }
  std::sort(kernels.begin(), kernels.end(), [](const KernelResources& a, const KernelResources& b) {
    return std::tie(a.architecture, a.kernel) < std::tie(b.architecture, b.kernel);
  });
  return kernels;
}

std::vector<KernelResources> kernel_resources(const std::string& kernel_text, const std::string& name,
                                              const std::vector<int>& architectures) {
  const TemporaryFolder workshop;
  const fs::path source = workshop.path() / (name + ".cu");
  write_file_whole(source, kernel_text);
  std::string report;
  for (const int architecture : architectures) {
    report += run_nvcc({"-std=c++17", fmt::format("-arch=sm_{}", architecture), "-cubin", "-Xptxas", "-v", "-Werror",
                        "all-warnings", "-o", (workshop.path() / "kernel.cubin").string(), source.string()},
                       name + ".cu");
  }
  return parse_ptxas_report(report, name + "_kernel");
}

}  // namespace esc
