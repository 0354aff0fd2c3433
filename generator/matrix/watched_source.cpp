// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/watched_source.h"

#include <utility>

namespace esc {

WatchedSource::WatchedSource(std::unique_ptr<ByteSource> source, StageProgress& progress)
    : ByteSource(source->name(), source->size()), source_(std::move(source)), progress_(progress) {
  begin_pass();
}

std::size_t WatchedSource::read(std::span<std::byte> buffer) {
  const std::size_t bytes = source_->read(buffer);
  progress_.advance(bytes);
  return bytes;
}

void WatchedSource::rewind() {
  source_->rewind();
  begin_pass();
}

}  // namespace esc
