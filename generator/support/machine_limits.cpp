// SPDX-License-Identifier: Apache-2.0
#include "generator/support/machine_limits.h"

#include <cerrno>

namespace esc {

const char* remedy_for(int error) {
  switch (error) {
    case EMFILE:
      return "raise the limit of open files (ulimit -n)";
    case ENFILE:
      return "end other programs: all together have too many files open";
    case EAGAIN:
      return "end other processes, or raise the limit of their number (ulimit -u)";
    case ENOMEM:
      return "raise the limit of memory (ulimit -v), or take a larger machine";
    default:
      return "take a machine that gives this";
  }
}

}  // namespace esc
