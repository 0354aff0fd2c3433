// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/nvcc.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sstream>
#include <string_view>
#include <tuple>

#include "generator/support/architecture.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/number_in.h"
#include "generator/support/process.h"
#include "generator/support/temporary_folder.h"
#include "generator/verify/predecessor.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

/// True when nvcc says that the machine, and not the text, is why it ends.
bool is_short_of_means(const std::string& output) {
  const auto says = [&](int error) { return output.find(std::strerror(error)) != output.npos; };
  return says(EMFILE) || says(ENFILE) || says(ENOMEM) || says(ENOSPC) || says(EAGAIN);
}

/// Runs nvcc; its output. `subject` is what is compiled, for the message.
std::string run_nvcc(std::vector<std::string> arguments, const std::string& subject) {
  const fs::path nvcc = find_nvcc();
  if (nvcc.empty()) {
    throw UserError("nvcc", "is neither on the PATH nor in /usr/local/cuda/bin", "install the CUDA toolkit",
                    ExitStatus::missing_tool);
  }
  arguments.insert(arguments.begin(), nvcc.string());
  const ProcessResult result = run_process(arguments);
  if (result.status != 0 && is_short_of_means(result.output)) {
    throw UserError("nvcc", "ends for want of what this machine should give:\n" + result.output,
                    "give it more of that (ulimit -a, df)", ExitStatus::missing_tool);
  }
  if (result.status != 0) {
    throw UserError(subject, "does not compile:\n" + result.output, {}, ExitStatus::check_failed);
  }
  return result.output;
}

/// What nvcc compiles for here. "native" leaves out the features that a compute capability alone has, which kernels may
/// use where all GPUs have them.
std::string architecture_of_this_machine() {
  const std::string native = "native";
  try {
    const ProcessResult answer =
        run_process({"nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"}, {.errors_apart = true});
    std::istringstream lines(answer.output);
    std::string line;
    std::string result = native;
    while (answer.status == 0 && std::getline(lines, line)) {
      if (line != "9.0") {
        return native;
      }
      result = "sm_" + compiled_architecture(90);
    }
    return result;
  } catch (const UserError&) {
    return native;  // there is no such program, so that nvcc has to find the GPU
  }
}

/// Compiles the texts for the GPU of this machine; the library.
fs::path compile_library(const std::vector<fs::path>& sources, const fs::path& library, const std::string& subject) {
  std::vector<std::string> arguments{"-std=c++17", "-O3",           "-arch=" + architecture_of_this_machine(),
                                     "-Xcompiler", "-fPIC",         "-shared",
                                     "-o",         library.string()};
  arguments.insert(arguments.end(), sources.begin(), sources.end());
  run_nvcc(std::move(arguments), subject);
  return library;
}

/// The text between two marks of a line, or nothing when they are not there in this order.
std::optional<std::string_view> between(std::string_view line, std::string_view before, std::string_view after) {
  const std::size_t mark = line.find(before);
  if (mark == line.npos) {
    return std::nullopt;
  }
  line.remove_prefix(mark + before.size());
  const std::size_t end = line.find(after);
  return end == line.npos ? std::nullopt : std::optional(line.substr(0, end));
}

/// The number that is right before `unit`: 16 in "stack frame, 16 bytes spill stores" for " bytes spill stores".
std::optional<int> number_before(std::string_view line, std::string_view unit) {
  const std::size_t end = line.find(unit);
  if (end == line.npos) {
    return std::nullopt;
  }
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') {
    --begin;
  }
  int number = 0;
  const auto [stop, error] = std::from_chars(line.data() + begin, line.data() + end, number);
  return error == std::errc() && stop == line.data() + end ? std::optional(number) : std::nullopt;
}

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
  return compile_library({folder / (name + ".cu"), folder / (name + "_transformer.cpp")}, output / (name + ".so"),
                         folder.string());
}

fs::path compile_predecessor(const fs::path& output) {
  const TemporaryFolder workshop;
  const fs::path source = workshop.path() / "predecessor.cu";
  write_file_whole(source, predecessor_source);
  return compile_library({source}, output / predecessor_library, source.filename().string());
}

std::vector<KernelResources> parse_ptxas_report(const std::string& report, const std::string& kernel_name) {
  std::vector<KernelResources> kernels;
  std::istringstream lines(report);
  for (std::string line; std::getline(lines, line);) {
    if (const auto entry = between(line, "Compiling entry function '", "'")) {
      // The mangled name holds the template arguments: tuned for n = bCol, and in families panel and rows whether
      // vectors are allowed. The kernel that sets rows of C to zero has none.
      const char* form = entry->find("_zero_rowsE") != entry->npos ? "zeroing"
                         : entry->find("ILb1E") != entry->npos     ? "tuned"
                         : entry->find("ILb0ELb1E") != entry->npos ? "aligned"
                                                                   : "any";
      kernels.push_back({.kernel = fmt::format("{}<{}>", kernel_name, form),
                         .architecture = number_in<int>(between(line, "for 'sm_", "'").value_or("0")).value_or(0)});
    } else if (!kernels.empty()) {
      KernelResources& kernel = kernels.back();
      kernel.spill_bytes = number_before(line, " bytes spill stores").value_or(kernel.spill_bytes);
      kernel.registers = number_before(line, " registers").value_or(kernel.registers);
      kernel.shared_bytes = number_before(line, " bytes smem").value_or(kernel.shared_bytes);
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
    report += run_nvcc({"-std=c++17", "-arch=sm_" + compiled_architecture(architecture), "-cubin", "-Xptxas", "-v",
                        "-Werror", "all-warnings", "-o", (workshop.path() / "kernel.cubin").string(), source.string()},
                       name + ".cu");
  }
  return parse_ptxas_report(report, name + "_kernel");
}

}  // namespace esc
