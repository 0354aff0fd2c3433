// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "generator/matrix/byte_source.h"
#include "generator/support/stage_progress.h"

namespace esc {

/// A source that says how far it was read. It is a stage of the progress from its making on, and once more for each
/// further reading.
class WatchedSource final : public ByteSource {
 public:
  WatchedSource(std::unique_ptr<ByteSource> source, StageProgress& progress);

  std::size_t read(std::span<std::byte> buffer) override;
  void rewind() override;

 private:
  void begin_pass() { progress_.begin("reading " + name(), size()); }

  std::unique_ptr<ByteSource> source_;
  StageProgress& progress_;
};

}  // namespace esc
