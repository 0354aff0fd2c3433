// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <limits>
#include <set>
#include <string_view>

#include "generator/matrix/typed_elements.h"
#include "generator/model/layer_file.h"
#include "generator/schedule/settings.h"
#include "generator/support/error.h"
#include "generator/support/identifier.h"
#include "generator/support/limits.h"
#include "generator/support/plain_text.h"

namespace esc {
namespace {

/// Headers of C, of the system and of CUDA that are included by their bare name, and the targets that CMake makes
/// itself: a bundle's folder is on the include path of the programs that use it, and its name is a target of
/// theirs.
bool is_taken(const std::string& name) {
  static const std::set<std::string_view> taken{
      "alloca", "assert", "builtin_types", "channel_descriptor", "complex", "ctype", "cuda", "cuda_bf16",
      "cuda_device_runtime_api", "cuda_fp16", "cuda_runtime", "cuda_runtime_api", "device_atomic_functions",
      "device_launch_parameters", "device_types", "driver_functions", "driver_types", "endian", "errno", "fcntl",
      "features", "fenv", "float", "inttypes", "iso646", "libintl", "library_types", "limits", "locale", "malloc",
      "math", "memory", "nvrtc", "poll", "pthread", "sched", "setjmp", "signal", "stdalign", "stdarg", "stdatomic",
      "stdbool", "stddef", "stdint", "stdio", "stdlib", "stdnoreturn", "string", "strings", "surface_types",
      "syslimits", "texture_types", "tgmath", "threads", "time", "uchar", "unistd", "vector_functions", "vector_types",
      "wchar", "wctype",
      // Targets of CMake.
      "ALL_BUILD", "INSTALL", "PACKAGE", "RUN_TESTS", "ZERO_CHECK", "all", "clean", "depend", "edit_cache", "help",
      "install", "list_install_components", "package", "package_source", "preinstall", "rebuild_cache", "test"};
  return taken.contains(name);
}

}  // namespace

ScalarType parse_element(const std::string& dtype) {
  if (const std::optional<ScalarType> element = kernel_element(dtype)) {
    return *element;
  }
  throw UserError("--dtype " + dtype, "is not supported: the elements of A, B and C are " + kernel_element_words(),
                  "use one of these, as in --dtype f16");
}

std::string default_name(const std::string& matrix_file) {
  const LayerFile layer = parse_layer_file(matrix_file);
  constexpr std::string_view common_ending = ".weight";
  std::string name = layer.tensor.empty() ? std::filesystem::path(layer.path).stem().string() : layer.tensor;
  if (!layer.tensor.empty() && name.size() > common_ending.size() && name.ends_with(common_ending)) {
    name.resize(name.size() - common_ending.size());
  }
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  const bool usable = !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 && !is_taken(name);
  return usable ? name : "layer_" + name;
}

void check_name(const std::string& name) {
  if (!is_identifier(name) || name.size() > 64) {
    throw UserError("--name " + name, "cannot be the prefix of C functions",
                    "use letters, digits and underscores, at most 64, and no digit first");
  }
  if (is_taken(name)) {
    throw UserError("--name " + name,
                    "is the name of a system header or of a target of CMake, which the bundle would hide",
                    "choose another, such as layer_" + name);
  }
}

void check_bcol(std::int64_t bcol) {
  if (bcol < 1 || bcol > most_columns_of_b) {
    throw UserError(fmt::format("--bcol {}", bcol), fmt::format("is outside 1 to {}", most_columns_of_b),
                    "give the number of columns of B that the kernel is made for");
  }
}

bool is_looked_up(const std::string& schedule) {
  return schedule == "auto" || schedule == "published" || schedule == "bitmap";
}

std::string bundle_name(const std::string& layer, std::int64_t bcol, bool one_of_several) {
  return one_of_several ? fmt::format("{}_n{}", layer, bcol) : layer;
}

std::string printable_file_name(const std::string& path) {
  const LayerFile layer = parse_layer_file(path);
  return plain_text(LayerFile{std::filesystem::path(layer.path).filename().string(), layer.tensor}.name());
}

}  // namespace esc
