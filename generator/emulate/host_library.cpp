#include "generator/emulate/host_library.h"

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "generator/emulate/active_machine.h"

namespace esc {
namespace {

template <Use use>
void check(const void* pointer, std::size_t bytes) {
  Machine& machine = active_machine();
  if (bytes != 0) {
    machine.check<use>(reinterpret_cast<std::uint64_t>(pointer), bytes, AccessNote::pack(0, 0, machine.site()));
  }
}

/// A file of the options, read as it stands in memory; where there are none, of this machine.
std::FILE* find_file(const char* path, const char* mode) {
  const auto& files = active_machine().options().files;
  if (files.empty()) {
    return std::fopen(path, mode);
  }
  const auto found = files.find(path);
  if (found == files.end() || std::strchr(mode, 'r') == nullptr) {
    return nullptr;
  }
  // An empty file in memory is refused by fmemopen.
  return found->second.empty() ? std::fopen("/dev/null", mode)
                               : fmemopen(const_cast<std::byte*>(found->second.data()), found->second.size(), "r");
}

int checked_memcmp(const void* a, const void* b, std::size_t bytes) {
  check<Use::read>(a, bytes);
  check<Use::read>(b, bytes);
  return std::memcmp(a, b, bytes);
}

std::size_t checked_fread(void* to, std::size_t size, std::size_t count, std::FILE* file) {
  check<Use::write>(to, size * count);
  return std::fread(to, size, count, file);
}

std::size_t checked_fwrite(const void* from, std::size_t size, std::size_t count, std::FILE* file) {
  check<Use::read>(from, size * count);
  return std::fwrite(from, size, count, file);
}

int checked_snprintf(char* to, std::size_t bytes, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (length >= 0 && bytes != 0) {
    check<Use::write>(to, std::min(bytes, static_cast<std::size_t>(length) + 1));
  }
  const int written = std::vsnprintf(to, bytes, format, arguments);
  va_end(arguments);
  return written;
}

template <class Function>
std::uint64_t address_of(Function* function) {
  return reinterpret_cast<std::uint64_t>(function);
}

using Table = std::unordered_map<std::string, std::uint64_t>;

Table make_table() {
  return {
      {"memcpy", address_of(static_cast<void* (*)(void*, const void*, std::size_t)>(&std::memcpy))},
      {"memmove", address_of(static_cast<void* (*)(void*, const void*, std::size_t)>(&std::memmove))},
      {"memset", address_of(static_cast<void* (*)(void*, int, std::size_t)>(&std::memset))},
      {"memcmp", address_of(&checked_memcmp)},
      {"bcmp", address_of(&checked_memcmp)},
      {"strlen", address_of(static_cast<std::size_t (*)(const char*)>(&std::strlen))},
      {"strcmp", address_of(static_cast<int (*)(const char*, const char*)>(&std::strcmp))},
      {"snprintf", address_of(&checked_snprintf)},
      {"printf", address_of(&std::printf)},
      {"fprintf", address_of(&std::fprintf)},
      {"puts", address_of(&std::puts)},
      {"fputs", address_of(&std::fputs)},
      {"fputc", address_of(&std::fputc)},
      {"putchar", address_of(&std::putchar)},
      {"fopen", address_of(&find_file)},
      {"fclose", address_of(&std::fclose)},
      {"fgetc", address_of(&std::fgetc)},
      {"feof", address_of(&std::feof)},
      {"ferror", address_of(&std::ferror)},
      {"fread", address_of(&checked_fread)},
      {"fwrite", address_of(&checked_fwrite)},
      {"fflush", address_of(&std::fflush)},
      {"fma", address_of(static_cast<double (*)(double, double, double)>(&std::fma))},
      {"fmaf", address_of(static_cast<float (*)(float, float, float)>(&std::fma))},
      {"fmin", address_of(static_cast<double (*)(double, double)>(&std::fmin))},
      {"fminf", address_of(static_cast<float (*)(float, float)>(&std::fmin))},
      {"fmax", address_of(static_cast<double (*)(double, double)>(&std::fmax))},
      {"fmaxf", address_of(static_cast<float (*)(float, float)>(&std::fmax))},
      {"sqrt", address_of(static_cast<double (*)(double)>(&std::sqrt))},
      {"sqrtf", address_of(static_cast<float (*)(float)>(&std::sqrt))},
      {"floor", address_of(static_cast<double (*)(double)>(&std::floor))},
      {"floorf", address_of(static_cast<float (*)(float)>(&std::floor))},
      {"ceil", address_of(static_cast<double (*)(double)>(&std::ceil))},
      {"ceilf", address_of(static_cast<float (*)(float)>(&std::ceil))},
      {"stdin", address_of(&stdin)},
      {"stdout", address_of(&stdout)},
      {"stderr", address_of(&stderr)},
  };
}

}  // namespace

std::uint64_t resolve_host_library(const std::string& name) {
  static const Table kTable = make_table();
  const auto found = kTable.find(name);
  return found == kTable.end() ? 0 : found->second;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> host_library_variables() {
  return {
      {address_of(&stdin), sizeof stdin}, {address_of(&stdout), sizeof stdout}, {address_of(&stderr), sizeof stderr}};
}

}  // namespace esc
