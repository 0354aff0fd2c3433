// SPDX-License-Identifier: Apache-2.0
// What objects compiled with the headers of a newer C library ask for, and glibc 2.28 and Linux 4.18 do not have. It is
// linked into the programs of the wheel. Each part says in which version the C library got it.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// 2.34: the C library itself calls the constructors of the program. Older ones call a function that they are given, and
// so do newer ones where there is one. The linker sends the call of the start-up object here (--wrap).
typedef int Main(int, char**, char**);
typedef void Constructor(int, char**, char**);
extern Constructor *__init_array_start[], *__init_array_end[];
extern void _init(void);
extern int __real___libc_start_main(Main*, int, char**, Constructor*, void (*)(void), void (*)(void), void*);

static void call_constructors(int count, char** arguments, char** environment) {
  _init();
  for (Constructor** one = __init_array_start; one != __init_array_end; ++one) (*one)(count, arguments, environment);
}

int __wrap___libc_start_main(Main* program, int count, char** arguments, Constructor* none, void (*at_end)(void),
                             void (*loader_at_end)(void), void* stack) {
  (void)none;
  return __real___libc_start_main(program, count, arguments, call_constructors, at_end, loader_at_end, stack);
}

// 2.33: before, stat and its like were functions in the C library's headers, which called these. Those with 64 in their
// names are the same on a 64-bit machine.
enum { version_of_stat = 1, version_of_mknod = 0 };
extern int __xstat(int version, const char* path, struct stat* about);
extern int __lxstat(int version, const char* path, struct stat* about);
extern int __fxstat(int version, int file, struct stat* about);
extern int __xmknod(int version, const char* path, mode_t mode, dev_t* device);

int stat(const char* path, struct stat* about) { return __xstat(version_of_stat, path, about); }
int lstat(const char* path, struct stat* about) { return __lxstat(version_of_stat, path, about); }
int fstat(int file, struct stat* about) { return __fxstat(version_of_stat, file, about); }
int stat64(const char* path, struct stat64* about) { return stat(path, (struct stat*)about); }
int lstat64(const char* path, struct stat64* about) { return lstat(path, (struct stat*)about); }
int fstat64(int file, struct stat64* about) { return fstat(file, (struct stat*)about); }
int mknod(const char* path, mode_t mode, dev_t device) { return __xmknod(version_of_mknod, path, mode, &device); }

// 2.32: whether a reference may be counted without an atomic instruction. Never.
char __libc_single_threaded = 0;

// 2.33: the same figures in wider numbers. LLVM asks for them only to print them.
struct mallinfo2 mallinfo2(void) {
  const struct mallinfo narrow = mallinfo();
  return (struct mallinfo2){.arena = (size_t)narrow.arena,
                            .hblkhd = (size_t)narrow.hblkhd,
                            .uordblks = (size_t)narrow.uordblks,
                            .fordblks = (size_t)narrow.fordblks};
}

// 2.36: a random number.
uint32_t arc4random(void) {
  uint32_t number;
  if (getentropy(&number, sizeof number) != 0) abort();
  return number;
}

// 2.30: waits by a clock of the caller's choice. What is left by that clock is added to the clock that conditions have.
// Who waits looks at its own clock again, so that a change of the time of day makes no wrong answer.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  enum { second = 1000000000 };
  struct timespec here, there;
  clock_gettime(clock, &here);
  clock_gettime(CLOCK_REALTIME, &there);
  there.tv_sec += until->tv_sec - here.tv_sec;
  there.tv_nsec += until->tv_nsec - here.tv_nsec;
  if (there.tv_nsec < 0) {
    there.tv_nsec += second;
    --there.tv_sec;
  } else if (there.tv_nsec >= second) {
    there.tv_nsec -= second;
    ++there.tv_sec;
  }
  return pthread_cond_timedwait(condition, mutex, &there);
}

// 2.34, Linux 5.9: closes the descriptors from first to last. Older systems list those that are open.
int close_range(unsigned first, unsigned last, int flags) {
  const long closed = syscall(SYS_close_range, first, last, flags);
  if (closed == 0 || errno != ENOSYS || flags != 0) return (int)closed;
  DIR* const open = opendir("/proc/self/fd");
  if (open == NULL) return -1;
  for (const struct dirent* entry; (entry = readdir(open)) != NULL;) {
    const long descriptor = entry->d_name[0] == '.' ? -1 : strtol(entry->d_name, NULL, 10);
    if (descriptor >= (long)first && descriptor <= (long)last && descriptor != dirfd(open)) close((int)descriptor);
  }
  return closedir(open);
}

// 2.35: which program or library an address is in, and where its table of stack frames is; what exceptions unwind by.
struct Search {
  uintptr_t address;
  struct dl_find_object* found;
};

static int look_into(struct dl_phdr_info* object, size_t bytes, void* told) {
  (void)bytes;
  const struct Search* const search = told;
  struct dl_find_object found = {0};
  for (int at = 0; at < object->dlpi_phnum; ++at) {
    const ElfW(Phdr)* const segment = &object->dlpi_phdr[at];
    const uintptr_t begin = object->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_LOAD && search->address >= begin && search->address - begin < segment->p_memsz) {
      found.dlfo_map_start = (void*)begin;
      found.dlfo_map_end = (void*)(begin + segment->p_memsz);
    }
    if (segment->p_type == PT_GNU_EH_FRAME) found.dlfo_eh_frame = (void*)begin;
  }
  if (found.dlfo_map_start == NULL || found.dlfo_eh_frame == NULL) return 0;
  *search->found = found;
  return 1;
}

int _dl_find_object(void* address, struct dl_find_object* found) {
  struct Search search = {(uintptr_t)address, found};
  return dl_iterate_phdr(look_into, &search) == 1 ? 0 : -1;
}
