// SPDX-License-Identifier: Apache-2.0
// In place of the C library's function: cannot exchange two names, nor give one that must be
// free, as on the file systems of networks.

#include <unistd.h>

#include <cerrno>
#include <cstdio>

extern "C" int renameat2(int, const char*, int, const char* target, unsigned int flags) noexcept {
  const bool is_there = access(target, F_OK) == 0;
  errno = (flags & RENAME_NOREPLACE) != 0 ? (is_there ? EEXIST : EINVAL) : (is_there ? EINVAL : ENOENT);
  return -1;
}
