// In place of the C library's function: no more threads can be started than THREADS_LEFT, as at the limit of a user's
// processes.

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*life)(void*),
                              void* argument) noexcept {
  static std::atomic<int> left = std::getenv("THREADS_LEFT") == nullptr ? 0 : std::atoi(std::getenv("THREADS_LEFT"));
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return left-- > 0 ? create(thread, attributes, life, argument) : EAGAIN;
}
