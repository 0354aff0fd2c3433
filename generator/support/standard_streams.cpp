// SPDX-License-Identifier: Apache-2.0
#include "generator/support/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace esc {

void open_missing_standard_streams() {
  constexpr std::array<std::pair<int, int>, 3> modes = {
      {{STDIN_FILENO, O_RDONLY}, {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_WRONLY}}};
  for (const auto& [descriptor, mode] : modes) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) {
      continue;
    }
    // The least free number is taken: that of the missing one, for those below it are open by now.
    if (open("/dev/null", mode) != descriptor) {
      _exit(3);
    }
  }
}

void write_to_standard_error(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
  std::clearerr(stderr);
}

}  // namespace esc
