// SPDX-License-Identifier: Apache-2.0
#include "generator/model/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <string>
#include <string_view>

#include "generator/matrix/matrix_reader.h"
#include "generator/support/error.h"

namespace esc {
namespace {

bool has_ending_of_pickles(const std::filesystem::path& path) {
  static constexpr std::array<std::string_view, 5> endings{".pt", ".pth", ".bin", ".ckpt", ".pkl"};
  return std::ranges::find(endings, lower_case_ending(path)) != endings.end();
}

/// Whether a file begins as pickles of protocols 2 to 5 do, or as PyTorch's archives of them.
bool begins_as_pickle(const std::filesystem::path& path) {
  std::string begin(256, '\0');
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return false;
  }
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(file.gcount()));
  const bool is_archive = begin.starts_with("PK\x03\x04") && begin.find("data.pkl") != begin.npos;
  return is_archive || (begin.size() > 2 && begin[0] == '\x80' && begin[1] >= 2 && begin[1] <= 5 && (begin[2] == '}' || begin[2] == 'c' || begin[2] == '\x95' || begin[2] == '\x8a'));
}

/// The path as it may stand between quotation marks of a shell and of Python; FILE where it may not.
std::string quotable(const std::filesystem::path& path) {
  const std::string text = path.string();
  const bool is_plain = std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0 || std::string_view("/._-+").find(static_cast<char>(c)) != std::string_view::npos; });
  return is_plain ? text : "FILE" + path.extension().string();
}

}  // namespace

void refuse_pickle(const std::filesystem::path& path) {
  if (!has_ending_of_pickles(path) && !begins_as_pickle(path)) {
    return;
  }
  const std::string file = quotable(path);
  const std::string made = quotable(std::filesystem::path(path).replace_extension(".safetensors"));
  throw UserError(path.string(), "is a pickle, which is a program: to read it is to run it",
                  fmt::format("convert it where you trust it: python3 -c \"import torch, safetensors.torch as s; s.save_file({{n: t.clone().contiguous() "
                              "for n, t in torch.load('{}', map_location='cpu', weights_only=True).items()}}, '{}')\"",
                              file, made));
}

}  // namespace esc
