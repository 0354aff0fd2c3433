// SPDX-License-Identifier: Apache-2.0
// In place of the C library's function, through LD_PRELOAD: a process that has several threads is ended by fork.

#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

namespace {

int threads() {
  int count = 0;
  if (DIR* const folder = opendir("/proc/self/task")) {
    while (const dirent* const entry = readdir(folder)) {
      count += entry->d_name[0] != '.' ? 1 : 0;
    }
    closedir(folder);
  }
  return count;
}

}  // namespace

extern "C" pid_t fork() noexcept {
  static const auto next = reinterpret_cast<pid_t (*)()>(dlsym(RTLD_NEXT, "fork"));
  if (threads() > 1) {
    _exit(98);
  }
  return next();
}
