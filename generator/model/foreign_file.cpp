// SPDX-License-Identifier: Apache-2.0
#include "generator/model/foreign_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "generator/matrix/matrix_reader.h"
#include "generator/support/error.h"
#include "generator/support/regular_file.h"

namespace esc {
namespace {

using namespace std::string_view_literals;

/// A format of models that is not read: what it is, and the line that makes a .safetensors file of it. {0} is the file,
/// {1} what is made.
struct ForeignFormat {
  std::set<std::string_view> endings;
  std::string_view what;
  std::string_view remedy;
};

constexpr std::size_t pickle = 0;
constexpr std::size_t gguf = 1;
constexpr std::size_t hdf5 = 2;

const std::array<ForeignFormat, 8> formats{
    {{{".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle"},
      "is a pickle, which is a program: to read it is to run it",
      // Checkpoints of training have the model in a dictionary, beside an optimizer whose moments look like weights.
      "convert it where you trust it: python3 -c \"import torch, safetensors.torch as s; f = lambda p, x: {{p: "
      "x.to_dense().clone().contiguous()}} if "
      "torch.is_tensor(x) else {{k: t for n, y in (x.items() if hasattr(x, 'items') else enumerate(x) if isinstance(x, "
      "(list, tuple)) else ()) if 'optim' not in "
      "str(n) for k, t in f(p + '.' * bool(p) + str(n), y).items()}}; s.save_file(f('', torch.load('{0}', "
      "map_location='cpu', weights_only=True)), '{1}')\""},
     {{".gguf"},
      "is a GGUF file, whose layers are quantised or rounded for llama.cpp",
      "take the model that it was made of, or convert it: python3 -c \"import gguf, numpy, safetensors.numpy as s; "
      "s.save_file({{t.name: numpy.ascontiguousarray(gguf.dequantize(t.data, t.tensor_type)) for t in "
      "gguf.GGUFReader('{0}').tensors}}, '{1}')\""},
     {{".h5", ".hdf5", ".keras", ".nc"},
      "is an HDF5 or Keras file",
      "convert it: python3 -c \"import h5py, safetensors.numpy as s; d = {{}}; h5py.File('{0}').visititems(lambda n, "
      "x: d.update({{n: x[()]}}) if isinstance(x, h5py.Dataset) else None); s.save_file(d, '{1}')\""},
     {{".onnx"},
      "is an ONNX model",
      "convert it: python3 -c \"import onnx, onnx.numpy_helper as h, safetensors.numpy as s; s.save_file({{t.name: "
      "h.to_array(t).copy() for t in "
      "onnx.load('{0}').graph.initializer}}, '{1}')\""},
     {{".msgpack"},
      "is a checkpoint of Flax",
      "convert it: python3 -c \"import flax.serialization as f, flax.traverse_util as u, safetensors.numpy as s; "
      "s.save_file(u.flatten_dict(f.msgpack_restore(open('{0}', 'rb').read()), sep='.'), '{1}')\""},
     {{".mat"},
      "is a file of MATLAB",
      "save its matrix with scipy.sparse.save_npz or numpy.save, after scipy.io.loadmat"},
     {{".tflite", ".pb", ".mlmodel", ".engine", ".plan"},
      "is a model that was compiled for a runtime",
      "take the checkpoint that it was made of, as a .safetensors file"},
     {{".csv", ".tsv", ".parquet", ".arrow", ".feather"},
      "is a table",
      "save its numbers with numpy.save: numpy.save('a.npy', numpy.loadtxt(FILE, delimiter=','))"}}};

/// The bytes that a file begins with; none of what is no regular file.
std::string beginning_of(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return {};
  }
  const RegularFile file(path, "a model");
  std::string begin(static_cast<std::size_t>(std::min<std::uint64_t>(512, file.size())), '\0');
  file.read_at(0, std::as_writable_bytes(std::span(begin)));
  return begin;
}

/// Pickles of protocols 2 to 5, and PyTorch's archives of them.
bool begins_as_pickle(std::string_view begin) {
  const bool is_archive = begin.starts_with("PK\x03\x04") && begin.find("data.pkl") != begin.npos;
  return is_archive || (begin.size() > 2 && begin[0] == '\x80' && begin[1] >= 2 && begin[1] <= 5 &&
                        "}c\x95\x8a"sv.find(begin[2]) != std::string_view::npos);
}

const ForeignFormat* format_of(std::string_view begin, const std::string& ending) {
  if (begins_as_pickle(begin)) {
    return &formats[pickle];
  }
  if (begin.starts_with("GGUF") || begin.starts_with("ggjt") || begin.starts_with("lmgg")) {
    return &formats[gguf];
  }
  if (begin.starts_with("\x89HDF\r\n")) {
    return &formats[hdf5];
  }
  const auto found =
      std::ranges::find_if(formats, [&](const ForeignFormat& format) { return format.endings.contains(ending); });
  return found == formats.end() ? nullptr : &*found;
}

/// What lies there in place of a file, and what to do about it.
struct Substitute {
  std::string what;
  std::string remedy;
};

std::optional<Substitute> substitute_of(std::string_view begin) {
  if (begin.starts_with("version https://git-lfs.github.com/") ||
      begin.starts_with("version https://hawser.github.com/")) {
    const std::size_t size = begin.find("\nsize ");
    const std::string_view digits =
        size == begin.npos ? std::string_view() : begin.substr(size + 6, begin.find('\n', size + 6) - size - 6);
    const bool is_number =
        !digits.empty() && std::ranges::all_of(digits, [](unsigned char c) { return std::isdigit(c) != 0; });
    return Substitute{fmt::format("is a pointer of Git LFS and not the file{} that it stands for",
                                  is_number ? fmt::format(" of {} bytes", digits) : ""),
                      "fetch the file: git lfs pull, or huggingface-cli download"};
  }
  if (begin.starts_with("/annex/objects/")) {
    return Substitute{"is a pointer of git-annex and not the file that it stands for",
                      "fetch the file: git annex get FILE"};
  }
  std::string_view text = begin;
  text.remove_prefix(text.starts_with("\xef\xbb\xbf") ? 3 : 0);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  if (text.size() > 1 && text[0] == '<' &&
      (std::isalpha(static_cast<unsigned char>(text[1])) != 0 || text[1] == '!' || text[1] == '?')) {
    return Substitute{
        "is a page of HTML or XML, such as a server answers with in place of a file",
        "fetch the file again, with what the server wants for it: a login, or the link to the file itself"};
  }
  for (const auto& [magic, word] :
       {std::pair("\x1f\x8b"sv, "gzip"), std::pair("\x28\xb5\x2f\xfd"sv, "zstd"),
        std::pair("\xfd"
                  "7zXZ"sv,
                  "xz"),
        std::pair("BZh"sv, "bzip2"), std::pair("7z\xbc\xaf"sv, "7z"), std::pair("Rar!"sv, "rar")}) {
    if (begin.starts_with(magic)) {
      return Substitute{fmt::format("is packed ({})", word), "unpack it first"};
    }
  }
  if (begin.size() > 262 && begin.substr(257, 5) == "ustar") {
    return Substitute{"is an archive (tar)", "unpack it first"};
  }
  return std::nullopt;
}

/// The path as it may be between quotation marks of a shell and of Python; FILE where it may not.
std::string quotable(const std::filesystem::path& path) {
  const std::string text = path.string();
  const bool is_plain = std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || "/._-+"sv.find(static_cast<char>(c)) != std::string_view::npos;
  });
  return is_plain ? text : "FILE" + path.extension().string();
}

}  // namespace

void refuse_foreign_file(const std::filesystem::path& path) {
  const std::string begin = beginning_of(path);
  if (const std::optional<Substitute> substitute = substitute_of(begin)) {
    throw UserError(path.string(), substitute->what, substitute->remedy);
  }
  if (const ForeignFormat* const format = format_of(begin, lower_case_ending(path))) {
    const std::string made = quotable(std::filesystem::path(path).replace_extension(".safetensors"));
    throw UserError(path.string(), std::string(format->what),
                    fmt::format(fmt::runtime(format->remedy), quotable(path), made));
  }
}

}  // namespace esc
