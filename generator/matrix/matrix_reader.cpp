#include "generator/matrix/matrix_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "generator/matrix/mtx_reader.h"
#include "generator/matrix/npy_header.h"
#include "generator/matrix/npy_reader.h"
#include "generator/matrix/smtx_reader.h"
#include "generator/support/error.h"

namespace esc {

namespace {

/// A file that says how far it was read.
class WatchedFile final : public ByteSource {
 public:
  WatchedFile(const std::filesystem::path& path, StageProgress& progress)
      : WatchedFile(std::make_unique<FileSource>(path), progress) {}

  std::size_t read(std::span<std::byte> buffer) override {
    const std::size_t bytes = file_->read(buffer);
    progress_.advance(bytes);
    return bytes;
  }
  void rewind() override {
    file_->rewind();
    begin_pass();
  }

 private:
  WatchedFile(std::unique_ptr<FileSource> file, StageProgress& progress)
      : ByteSource(file->name(), file->size()), file_(std::move(file)), progress_(progress) {
    begin_pass();
  }
  void begin_pass() { progress_.begin("reading " + name(), size()); }

  std::unique_ptr<FileSource> file_;
  StageProgress& progress_;
};

}  // namespace

std::string lower_case_ending(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return ending;
}

bool has_matrix_ending(const std::filesystem::path& path) {
  const std::string ending = lower_case_ending(path);
  return ending == ".smtx" || ending == ".mtx" || ending == ".npy";
}

SparseMatrix read_matrix(const std::filesystem::path& path, const ReadOptions& options, StageProgress& progress) {
  const std::string ending = lower_case_ending(path);
  SparseMatrix (*read)(ByteSource&, const ReadOptions&) = nullptr;
  if (ending == ".smtx") {
    read = read_smtx;
  } else if (ending == ".mtx") {
    read = read_mtx;
  } else if (ending == ".npy") {
    read = read_npy;
  } else {
    throw UserError(path.string(),
                    ending.empty() ? "has no ending that names a matrix format"
                                   : fmt::format("the ending {} is not a matrix format that can be read", ending),
                    fmt::format("give a {} file", supported_endings));
  }
  WatchedFile source(path, progress);
  return read(source, options);
}

std::vector<std::int64_t> read_weight_shape(const std::filesystem::path& path) {
  if (lower_case_ending(path) != ".npy") {
    return {};
  }
  FileSource source(path);
  const std::vector<std::int64_t> shape = read_npy_header(source).shape;
  return shape.size() == 4 ? shape : std::vector<std::int64_t>();
}

}  // namespace esc
