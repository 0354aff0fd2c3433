// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/predecessor.h"

#include <string>

#include "generator/support/error.h"

namespace esc {
namespace {

constexpr int byte_of_nan = 0xff;
const std::string remedy = "compile generator/verify/predecessor.cu into it";

}  // namespace

Predecessor::Predecessor(const CudaRuntime& runtime, const std::filesystem::path& library)
    : library_(library), launch_(library_.function<int(const void*, int, void*)>("esc_predecessor_launch", remedy)) {
  const int status = library_.function<int()>("esc_predecessor_prepare", remedy)();
  if (status != 0) {
    throw UserError(library.string(), "does not run on this GPU: " + runtime.error_text(status),
                    "compile it for this GPU", ExitStatus::missing_tool);
  }
}

int Predecessor::launch(const void* writes, std::size_t count, void* stream) const {
  return launch_(writes, static_cast<int>(count), stream);
}

void LateWrites::add(void* to, std::span<const std::byte> contents) {
  const DeviceBuffer& source = buffers_.emplace_back(runtime_, contents.size());
  runtime_.copy_to_device(source.get(), contents.data(), contents.size());
  runtime_.fill(to, byte_of_nan, contents.size());
  writes_.push_back({to, source.get(), contents.size()});
}

int LateWrites::launch(const Predecessor& predecessor, void* stream) {
  const std::size_t bytes = writes_.size() * sizeof(Write);
  const DeviceBuffer& list = buffers_.emplace_back(runtime_, bytes);
  runtime_.copy_to_device(list.get(), writes_.data(), bytes);
  // Copies from memory that is not pinned may still be under way on the default stream.
  static_cast<void>(runtime_.synchronize());
  return predecessor.launch(list.get(), writes_.size(), stream);
}

}  // namespace esc
