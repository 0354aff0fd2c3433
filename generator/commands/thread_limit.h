#pragma once

#include <tbb/global_control.h>

#include <optional>

namespace esc {

/// While it lives, oneTBB uses no more threads than this process can start: one that fails to start in the middle of a
/// parallel loop would end the program. Without any, loops run in the thread that begins them.
class ThreadLimit {
 public:
  ThreadLimit();

 private:
  std::optional<tbb::global_control> limit_;
};

}  // namespace esc
