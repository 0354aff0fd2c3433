#include "generator/emulate/host_library.h"

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
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

int checked_memcmp(const void* a, const void* b, std::size_t bytes) {
  check<Use::read>(a, bytes);
  check<Use::read>(b, bytes);
  return std::memcmp(a, b, bytes);
}

/// Whether a format has %n, which writes to where its argument says.
bool writes_through_format(std::string_view format) {
  for (std::size_t at = format.find('%'); at != format.npos; at = format.find('%', at + 1)) {
    at = format.find_first_not_of("0123456789.*-+ #'hlqjzt$L", at + 1);
    if (at == format.npos || format[at] == 'n') {
      return true;
    }
  }
  return false;
}

/// A check has no files: a text that asks for one shall not seem to be checked. Stops the code that calls.
[[noreturn]] void refuse_call(const char* function) {
  Machine& machine = active_machine();
  machine.report(FaultKind::forbidden_call, machine.site(), function,
                 [&] { return std::string("calls ") + function + ", which a text under check may not"; });
  machine.stop();
}

// In place of the functions of files, whatever their arguments.
void refuse_fopen() { refuse_call("fopen"); }
void refuse_fclose() { refuse_call("fclose"); }
void refuse_fread() { refuse_call("fread"); }
void refuse_fgetc() { refuse_call("fgetc"); }
void refuse_ferror() { refuse_call("ferror"); }

int checked_snprintf(char* to, std::size_t bytes, const char* format, ...) {
  if (writes_through_format(format)) {
    refuse_call("snprintf with %n");
  }
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
      {"fopen", address_of(&refuse_fopen)},
      {"fclose", address_of(&refuse_fclose)},
      {"fread", address_of(&refuse_fread)},
      {"fgetc", address_of(&refuse_fgetc)},
      {"ferror", address_of(&refuse_ferror)},
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
  };
}

}  // namespace

std::uint64_t resolve_host_library(const std::string& name) {
  static const Table kTable = make_table();
  const auto found = kTable.find(name);
  return found == kTable.end() ? 0 : found->second;
}

}  // namespace esc
