// SPDX-License-Identifier: Apache-2.0
// In place of the C library's function: no more threads than THREADS_LEFT run at once, as at the limit of a user's
// processes. With THREADS_LOST_AFTER=N none is started after the first N.

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

namespace {

std::atomic<int>& places() {
  static std::atomic<int> left = std::getenv("THREADS_LEFT") == nullptr ? 0 : std::atoi(std::getenv("THREADS_LEFT"));
  return left;
}

struct Life {
  void* (*run)(void*);
  void* argument;
};

void* live(void* told) {
  const Life life = *static_cast<Life*>(told);
  delete static_cast<Life*>(told);
  void* const result = life.run(life.argument);
  ++places();
  return result;
}

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                              void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  static const char* const lost_after = std::getenv("THREADS_LOST_AFTER");
  static std::atomic<int> started = 0;
  if (lost_after != nullptr && started++ >= std::atoi(lost_after)) {
    return EAGAIN;
  }
  if (--places() < 0) {
    ++places();
    return EAGAIN;
  }
  return create(thread, attributes, live, new Life{run, argument});
}
